import { readFile } from 'node:fs/promises';
import bs58 from 'bs58';
import type { Page } from 'playwright-core';
import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WatchedPage } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { type PlayHouse, startPlayHouse } from '../../src/play/play-house.js';
import { PRICE, RECEIVER } from '../../src/worlds/toasts.js';

describeWithProgram('chromium', 'players on their page', () => {
  let house: PlayHouse;
  beforeAll(async () => {
    house = await startPlayHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  const guest = async (name: string) =>
    (await house.api.get(`${house.world.path}/entity-instances/${name}?entitySchema=guest`)).body.data?.state;

  /** Opens an event of the page and fills its one field. */
  async function fill({ page }: WatchedPage, event: string, name: string) {
    const card = page
      .getByRole('group')
      .filter({ has: page.getByRole('heading', { name: event, exact: true }) });
    if ((await card.getAttribute('open')) === null) await card.getByRole('heading').click();
    await card.getByLabel('name').fill(name);
    return card;
  }

  it('play with a wallet that the page makes, keeps, exports, takes back and forgets', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    await page.getByRole('button', { name: 'Make one here' }).click();
    await page.getByText('Not safe for money.').waitFor();
    await expectSound(watched);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export the key' }).click(),
    ]);
    const file = await readFile(await download.path(), 'utf8');
    const { publicKey } = nacl.sign.keyPair.fromSecretKey(Uint8Array.from(JSON.parse(file)));
    const card = await fill(watched, 'enter', 'made');
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText('Done.').waitFor();
    expect(await guest('made')).toMatchObject({ visits: 1, by: bs58.encode(publicKey) });
    await page.reload();
    await page.getByText('Not safe for money.').waitFor();
    await page.getByRole('button', { name: 'Forget it', exact: true }).click();
    await page.getByRole('button', { name: 'Forget it for ever' }).click();
    expect(await page.evaluate('localStorage.length')).toBe(0);
    const buffer = Buffer.from(file);
    const upload = { name: 'wallet.json', mimeType: 'application/json', buffer };
    await page.locator('input[type=file]').setInputFiles(upload);
    await page.getByText('Not safe for money.').waitFor();
    const again = await fill(watched, 'enter', 'made');
    await again.getByRole('button', { name: 'Play' }).click();
    await again.getByText('Done.').waitFor();
    expect(await guest('made')).toMatchObject({ visits: 2, by: bs58.encode(publicKey) });
    expect(watched.faults).toEqual([]);
  });

  it('play with an Ethereum wallet of the browser', async () => {
    const key = await house.newPayer();
    await using watched = await house.open(house.world.address, { extensions: { ethereum: key } });
    await watched.page.getByRole('button', { name: 'Ethereum wallet' }).click();
    const card = await fill(watched, 'enter', 'ethereum');
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText('Done.').waitFor();
    expect(await guest('ethereum')).toMatchObject({ by: privateKeyToAccount(key).address });
    await expectSound(watched);
  });

  it('play with a Solana wallet of the browser', async () => {
    const solana = nacl.sign.keyPair();
    await using watched = await house.open(house.world.address, { extensions: { solana } });
    await watched.page.getByRole('button', { name: 'Solana wallet' }).click();
    const card = await fill(watched, 'enter', 'solana');
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText('Done.').waitFor();
    expect(await guest('solana')).toMatchObject({ by: bs58.encode(solana.publicKey) });
    expect(watched.faults).toEqual([]);
  });

  it.each([
    ['toast', 'signs and pays'],
    ['treat', 'pays, which is the call'],
  ])('pay for %s: the wallet %s', async (event) => {
    const key = await house.newPayer();
    await using watched = await house.open(house.world.address, { extensions: { ethereum: key } });
    const { page } = watched;
    const before = await house.evm.balanceOf(RECEIVER);
    const card = await fill(watched, event, `${event} payer`);
    await card.getByRole('button', { name: 'Play for $0.01' }).click();
    const offer = page.getByRole('dialog', { name: 'Pay for this?' });
    await offer.getByText('10000 units').waitFor();
    await expectSound(watched);
    await offer.getByRole('button', { name: 'Go on to my wallet' }).click();
    await card.getByText('and paid for').waitFor();
    expect(await house.evm.balanceOf(RECEIVER)).toBe(before + PRICE);
    expect(await guest(`${event}%20payer`)).toMatchObject({
      visits: 1,
      by: privateKeyToAccount(key).address,
    });
  });

  it('pay nothing unless they say so, and are told where they cannot pay', async () => {
    const key = await house.newPayer();
    await using watched = await house.open(house.world.address, { extensions: { ethereum: key } });
    const before = await house.evm.balanceOf(RECEIVER);
    const card = await fill(watched, 'toast', 'thrifty');
    await card.getByRole('button', { name: 'Play for $0.01' }).click();
    await watched.page.getByRole('button', { name: 'Do not pay' }).click();
    await card.getByText('You have not agreed to pay, so this was not played.').waitFor();
    expect(await house.evm.balanceOf(RECEIVER)).toBe(before);
    await using poor = await house.open(house.world.address);
    const other = await fill(poor, 'toast', 'poor');
    await other.getByRole('button', { name: 'Play for $0.01' }).click();
    await other.getByText(/open this page in a browser with an Ethereum or a Solana wallet/).waitFor();
    await expectSound(poor);
  });

  it('are told what is wrong, at its field', async () => {
    await using watched = await house.open(house.world.address);
    const card = await fill(watched, 'enter', '');
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText('This is required.').waitFor();
    await expectSound(watched);
  });

  it.each(['Ask again', 'Play'])('play once, after an answer was lost, by pressing "%s"', async (button) => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    const answers = await losing(page, () => true);
    const name = `once by ${button}`;
    const card = await fill(watched, 'enter', name);
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText(/Nobody knows whether it took effect/).waitFor();
    answers.come();
    await card.getByRole('button', { name: button }).click();
    await card.getByText('Done.').waitFor();
    expect(await card.getByText(/Nobody knows/).count()).toBe(0);
    expect(await guest(encodeURIComponent(name))).toMatchObject({ visits: 1 });
  });

  it.each(['toast', 'treat'])(
    'pay once for %s, whatever they play and refuse after an answer was lost',
    async (event) => {
      const key = await house.newPayer();
      await using watched = await house.open(house.world.address, { extensions: { ethereum: key } });
      const { page } = watched;
      const before = await house.evm.balanceOf(RECEIVER);
      const answers = await losing(page, (headers) => headers['payment-signature'] !== undefined);
      const card = await fill(watched, event, `${event} once`);
      const play = card.getByRole('button', { name: 'Play for $0.01' });
      await play.click();
      await page.getByRole('button', { name: 'Go on to my wallet' }).click();
      await card.getByText(/Nobody knows whether it took effect/).waitFor();
      await card.getByLabel('name').fill(`${event} never`);
      await play.click();
      await page.getByRole('button', { name: 'Do not pay' }).click();
      await card.getByText('You have not agreed to pay, so this was not played.').waitFor();
      await card.getByText(/Nobody knows whether it took effect/).waitFor();
      await expectSound(watched);
      answers.come();
      await card.getByLabel('name').fill(`${event} once`);
      await play.click();
      await card.getByText('Done.').waitFor();
      expect(await house.evm.balanceOf(RECEIVER)).toBe(before + PRICE);
      expect(await guest(`${event}%20once`)).toMatchObject({ visits: 1 });
      expect(await guest(`${event}%20never`)).toBeUndefined();
    },
  );

  it('are the caller from their own account alone, and see which one pays', async () => {
    const key = await house.newPayer();
    await using watched = await house.open(house.world.address, { extensions: { ethereum: key } });
    const { page } = watched;
    await page.getByRole('button', { name: 'Ethereum wallet' }).click();
    await page.getByText('with your Ethereum wallet').waitFor();
    const other = `0x${'b'.repeat(40)}`;
    await page.evaluate(`{
      const { request } = window.ethereum;
      window.ethereum.request = (call) =>
        call.method === 'eth_requestAccounts' ? Promise.resolve(['${other}']) : request(call);
    }`);
    const treat = await fill(watched, 'treat', 'somebody');
    await treat.getByRole('button', { name: 'Play for $0.01' }).click();
    await treat.getByText(`Your wallet shows the account ${other}`).waitFor();
    const toast = await fill(watched, 'toast', 'somebody');
    await toast.getByRole('button', { name: 'Play for $0.01' }).click();
    const offer = page.getByRole('dialog', { name: 'Pay for this?' });
    await offer.getByTitle(other).waitFor();
    await offer.getByRole('button', { name: 'Do not pay' }).click();
    await toast.getByText('You have not agreed to pay').waitFor();
    expect(await guest('somebody')).toBeUndefined();
  });

  it('are asked about one offer after the other', async () => {
    const key = await house.newPayer();
    await using watched = await house.open(house.world.address, { extensions: { ethereum: key } });
    const { page } = watched;
    const released = Promise.withResolvers<void>();
    await page.route('**/events/treat/execute', async (route) => {
      await released.promise;
      await route.continue();
    });
    const toast = await fill(watched, 'toast', 'first offer');
    const treat = await fill(watched, 'treat', 'second offer');
    await treat.getByRole('button', { name: 'Play for $0.01' }).click();
    await toast.getByRole('button', { name: 'Play for $0.01' }).click();
    const offer = page.getByRole('dialog', { name: 'Pay for this?' });
    await offer.getByText('toast', { exact: true }).waitFor();
    const asked = page.waitForResponse((answer) => answer.url().endsWith('/treat/execute'));
    released.resolve();
    await (await asked).finished();
    await offer.getByRole('button', { name: 'Go on to my wallet' }).click();
    await toast.getByText('and paid for').waitFor();
    await offer.getByText('treat', { exact: true }).waitFor();
    await offer.getByRole('button', { name: 'Do not pay' }).click();
    await treat.getByText('You have not agreed to pay').waitFor();
    expect(await guest('second%20offer')).toBeUndefined();
  });
});

/** The executions happen. The answers to those that it is about get lost, until they come. */
async function losing(page: Page, isLost: (headers: Record<string, string>) => boolean) {
  let areLost = true;
  await page.route('**/execute', async (route) => {
    const answer = await route.fetch();
    if (areLost && isLost(route.request().headers()))
      return route.fulfill({ status: 500, contentType: 'text/plain', body: 'lost' });
    return route.fulfill({ response: answer });
  });
  return {
    come: () => {
      areLost = false;
    },
  };
}
