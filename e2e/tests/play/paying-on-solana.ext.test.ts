import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectSound } from '../../src/console/expect-sound.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { startSolanaPlayHouse } from '../../src/play/play-house.js';
import { PRICE } from '../../src/worlds/toasts.js';

describeWithProgram('chromium', 'players on their page, where payments are on Solana', () => {
  let house: Awaited<ReturnType<typeof startSolanaPlayHouse>>;
  beforeAll(async () => {
    house = await startSolanaPlayHouse();
  });
  afterAll(() => house?.[Symbol.asyncDispose]());

  it('pay with a Solana wallet of the browser, which signs the play and the transfer', async () => {
    const solana = nacl.sign.keyPair();
    const address = bs58.encode(solana.publicKey);
    const { ledger } = house.solana;
    await ledger.fund(address as never, 3n * PRICE);
    await using watched = await house.open(house.world.address, { extensions: { solana } });
    const { page } = watched;
    const scripts = new Set<string>();
    page.on('request', (request) => void scripts.add(new URL(request.url()).pathname));
    await page.getByRole('button', { name: 'Solana wallet' }).click();
    const card = page
      .getByRole('group')
      .filter({ has: page.getByRole('heading', { name: 'toast', exact: true }) });
    await card.getByRole('heading').click();
    await card.getByLabel('name').fill('sol');
    await card.getByRole('button', { name: 'Play for $0.01' }).click();
    const offer = page.getByRole('dialog', { name: 'Pay for this?' });
    await offer.getByText('10000 units').waitFor();
    await offer.getByText('Solana devnet, a test network').waitFor();
    await expectSound(watched);
    expect([...scripts].filter((path) => path.includes('sign-transfer'))).toEqual([]);
    await offer.getByRole('button', { name: 'Go on to my wallet' }).click();
    await card.getByText('and paid for').waitFor();
    expect([...scripts].filter((path) => path.includes('sign-transfer'))).toHaveLength(1);
    expect(await ledger.balanceOf(house.receiver as never)).toBe(PRICE);
    const { body } = await house.api.get(`${house.world.path}/history?trigger=public`);
    expect(body.data[0]).toMatchObject({
      caller: `wallet:${address}`,
      payment: { status: 'settled', payer: address },
    });
  });

  it('are told where their wallets cannot pay', async () => {
    const ethereum = `0x${'1'.repeat(64)}` as const;
    await using watched = await house.open(house.world.address, { extensions: { ethereum } });
    const card = watched.page
      .getByRole('group')
      .filter({ has: watched.page.getByRole('heading', { name: 'toast', exact: true }) });
    await card.getByRole('heading').click();
    await card.getByLabel('name').fill('poor');
    await card.getByRole('button', { name: 'Play for $0.01' }).click();
    await card.getByText(/None of your wallets can pay this/).waitFor();
    await expectSound(watched);
  });
});
