import { readFile } from 'node:fs/promises';
import bs58 from 'bs58';
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
    await card.getByText('You have not paid. Nothing was done.').waitFor();
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

  it('play once, however often they ask after an answer was lost', async () => {
    await using watched = await house.open(house.world.address);
    const { page } = watched;
    let isLost = true;
    // The execution happens; its answer never comes.
    await page.route('**/execute', async (route) => {
      const answer = await route.fetch();
      if (isLost) return route.fulfill({ status: 500, contentType: 'text/plain', body: 'lost' });
      return route.fulfill({ response: answer });
    });
    const card = await fill(watched, 'enter', 'once');
    await card.getByRole('button', { name: 'Play' }).click();
    await card.getByText(/Nobody knows whether it took effect/).waitFor();
    isLost = false;
    await card.getByRole('button', { name: 'Ask again' }).click();
    await card.getByText('Done.').waitFor();
    expect(await guest('once')).toMatchObject({ visits: 1 });
  });
});
