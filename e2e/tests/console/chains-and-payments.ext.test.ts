import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrrery } from '@orrery/sdk';
import { type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { ANVIL_KEYS, startAnvil } from '@orrery/testing/servers';
import { BUILT_COMMAND, repositoryRoot, startNode } from '@orrery/testing/system';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import nacl from 'tweetnacl';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../../src/api/api-client.js';
import { type ConsoleHouse, startConsoleHouse } from '../../src/console/console-house.js';
import { expectSound } from '../../src/console/expect-sound.js';
import { confirmInDialog } from '../../src/console/write-editor.js';
import { describeWithProgram } from '../../src/external/describe-with-program.js';
import { type RefusingChain, startRefusingChain } from '../../src/external/refusing-chain.js';
import type { MadeDeployment } from '../../src/worlds/make-world.js';
import { publicWorld } from '../../src/worlds/public-world.js';
import { PRICE, RECEIVER, sellToasts } from '../../src/worlds/toasts.js';

describeWithProgram('chromium', "chains and payments in a deployment's console", () => {
  let house: ConsoleHouse;
  let chain: RefusingChain;
  let payments: EvmPayments;
  let world: MadeDeployment;
  const ends: (() => PromiseLike<unknown>)[] = [];
  beforeAll(async () => {
    const anvil = await startAnvil();
    ends.unshift(() => anvil.stop());
    chain = await startRefusingChain(anvil.url);
    ends.unshift(() => chain[Symbol.asyncDispose]());
    payments = await startEvmPayments();
    ends.unshift(() => payments[Symbol.asyncDispose]());
    const folder = await mkdtemp(join(tmpdir(), 'orrery-console-'));
    ends.unshift(() => rm(folder, { recursive: true }));
    house = await startConsoleHouse(await configure(folder, { chain, payments }));
    ends.unshift(() => house[Symbol.asyncDispose]());
    const api = apiClient(house.system.url, house.system.key);
    world = await publicWorld(api);
    await sellToasts(api, world, RECEIVER);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  it('binds an event to a chain, shows its pushes with their transactions, and retries one that failed', async () => {
    await using watched = await house.open(`${world.path}/settings`);
    const { page } = watched;
    await page.getByRole('button', { name: 'Change the binding of close' }).click();
    await page.getByLabel('local').check();
    await page.getByLabel('Result to push').selectOption('none');
    await page.getByLabel('Changes to push').selectOption('some');
    await page.getByLabel('Names (changes to push)').fill('visits, guest.by');
    await expectSound(watched);
    await confirmInDialog(page, 'Save');
    await page.getByRole('cell', { name: 'changes: visits, guest.by; result: none' }).waitFor();

    const [, worldAddress = '', address = ''] = /(0x\w+)\/deployments\/(0x\w+)/.exec(world.path) ?? [];
    const deployment = house.orrery.deployment(worldAddress, address);
    const execute = () => deployment.execute({ event: 'close', input: { name: 'Ada' } });
    const { seq } = await execute();
    await page.getByRole('link', { name: 'Pushes' }).click();
    const row = (number: number) => page.getByRole('row', { name: new RegExp(`^local #${number}`) });
    await row(1)
      .getByText(/^(confirmed|finalized)$/)
      .waitFor();
    expect(
      await row(1)
        .getByTitle(/^0x[0-9a-f]{64}$/)
        .count(),
    ).toBe(1);
    await row(1)
      .getByRole('link', { name: `Entry ${seq} in the live page` })
      .waitFor();

    chain.isRefusing = true;
    const { seq: refused } = await execute();
    await row(2).getByText('exceeds block gas limit').waitFor();
    await row(2).getByRole('button', { name: 'Skip' }).waitFor();
    await expectSound(watched);
    chain.isRefusing = false;
    await row(2)
      .getByRole('button', { name: `Retry the push of entry ${refused} to local` })
      .click();
    await row(2)
      .getByText(/^(confirmed|finalized)$/)
      .waitFor();

    chain.isRefusing = true;
    const { seq: skipped } = await execute();
    await row(3).getByText('exceeds block gas limit').waitFor();
    await row(3).getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('dialog').getByText(`Only the digest of entry ${skipped} goes to local`).waitFor();
    await expectSound(watched);
    chain.isRefusing = false;
    await confirmInDialog(page, 'Skip');
    await row(3)
      .getByText(/^(confirmed|finalized)$/)
      .waitFor();
    await row(3).getByText('only its digest goes on-chain').waitFor();
    expect(watched.faults).toEqual([]);
  });

  it('changes of a binding what was changed in the form, and shows what somebody else has bound meanwhile', async () => {
    const api = apiClient(house.system.url, house.system.key);
    const [worldPath = ''] = world.path.split('/deployments');
    const { body } = await api.get(`${worldPath}/events/enter/event-versions/1`);
    const { inputSchema, stateChanges, mutationSettings } = body.data;
    for (const _ of [2, 3])
      await api.post(`${worldPath}/events/enter/event-versions`, {
        inputSchema,
        stateChanges,
        mutationSettings,
      });
    const bindings = `${world.path}/event-bindings`;
    const bound = async () => (await api.get(`${bindings}?event=enter`)).body.data;
    await using watched = await house.open(`${world.path}/settings`);
    const { page } = watched;
    const change = page.getByRole('button', { name: 'Change the binding of enter' });
    const dialog = page.getByRole('dialog', { name: 'Binding of enter' });
    await change.click();
    expect((await api.put(bindings, [{ event: 'enter', eventVersion: 2 }])).status).toBe(200);
    await dialog.getByLabel('local').check();
    await confirmInDialog(page, 'Save');
    expect(await bound()).toMatchObject({ eventVersion: 2, targetChains: ['local'], onchain: null });

    await change.click();
    await dialog.getByLabel('Version').selectOption('1');
    await api.put(bindings, [{ event: 'enter', eventVersion: 3 }]);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Somebody else has changed it since you opened it').waitFor();
    expect(await bound()).toMatchObject({ eventVersion: 3 });
    await expectSound(watched);
    await page.setViewportSize({ width: 1280, height: 860 });
    await dialog.getByRole('button', { name: 'Save mine over it' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await bound()).toMatchObject({ eventVersion: 1, targetChains: ['local'] });
    expect(watched.faults).toEqual([]);
  });

  it('shows what was paid, by whom and in which transaction', async () => {
    const key = generatePrivateKey();
    const { address: payerAddress } = privateKeyToAccount(key);
    await payments.fund(payerAddress, 10n * PRICE);
    const payer = registerExactEvmScheme(
      new x402Client().setSpendControls({ maxAmountPerPayment: '$0.02' }),
      { signer: privateKeyToAccount(key) },
    );
    const { publicKey, secretKey } = nacl.sign.keyPair();
    const by = { publicKey, sign: (message: Uint8Array) => nacl.sign.detached(message, secretKey) };
    const visitor = createOrrery({ url: house.system.url });
    await visitor.executePublic({
      deployment: world.address,
      event: 'toast',
      input: { name: 'Ada' },
      by,
      payer,
    });
    await using watched = await house.open(`${world.path}/payments`);
    const { page } = watched;
    const row = page.getByRole('row').filter({ hasText: 'toast' });
    await row.getByText('settled').waitFor();
    await row.getByText('0.01', { exact: true }).waitFor();
    await row.getByTitle(payerAddress).waitFor();
    await row.getByRole('link', { name: /opens the block explorer/ }).waitFor();
    await expectSound(watched);
    await page.getByLabel('Show').selectOption('refused');
    await page.getByText('No payment is refused.').waitFor();
    expect(watched.faults).toEqual([]);
  });
});

/** Writes the files of a local chain and of payments, and deploys the registry there. */
async function configure(
  folder: string,
  { chain, payments }: { chain: RefusingChain; payments: EvmPayments },
): Promise<Record<string, string>> {
  const [example] = JSON.parse(
    await readFile(join(repositoryRoot, 'docs/examples/local-chain.json'), 'utf8'),
  );
  const [chains, payment] = [join(folder, 'chains.json'), join(folder, 'payments.json')];
  await writeFile(chains, JSON.stringify([{ ...example, rpcUrls: [chain.url] }]));
  const { facilitator, rpcUrl, token: asset } = payments;
  const usdc = { network: 'base-sepolia', asset, decimals: 6, name: 'USDC', version: '2', rpcUrls: [rpcUrl] };
  await writeFile(payment, JSON.stringify({ facilitatorUrl: facilitator.url, accepts: [usdc] }));
  const env = { CHAINS_FILE: chains, LOCAL_KEY: ANVIL_KEYS[0] };
  const args = ['chains', 'deploy', '--chain', 'local', '--json'];
  await using deploying = startNode(BUILT_COMMAND, env, { args });
  await deploying.waitFor(/"contract":"(0x[0-9a-f]{40})"/);
  return { ...env, PAYMENTS_FILE: payment };
}
