import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUILT_COMMAND, repositoryRoot } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSolanaHouse } from '../src/public/paid-house.js';
import { PRICE } from '../src/worlds/toasts.js';

const run = promisify(execFile);
const cli = (...args: string[]) => run(process.execPath, [BUILT_COMMAND, ...args], { cwd: repositoryRoot });

let house: Awaited<ReturnType<typeof startSolanaHouse>>;
beforeAll(async () => {
  house = await startSolanaHouse();
});
afterAll(() => house?.[Symbol.asyncDispose]());

it('on Solana the wallet that signs the message pays, from the command line', async () => {
  const { system, world, folder, solana, receiver, api } = house;
  const wallet = join(folder, 'wallet.json');
  const address = (await cli('wallets', 'create', wallet)).stdout.trim();
  await solana.ledger.fund(address as never, 3n * PRICE);
  const target = ['--url', system.url, '--deployment', world.address, '--wallet', wallet];
  const what = ['--event', 'toast', '--input', '{"name":"sol"}', '--pay', '--solana-rpc', solana.rpcUrl];
  const { stdout } = await cli('public', 'execute', ...target, ...what);
  expect(stdout).toMatch(/"guest:sol"[\s\S]*paid: .*"success":true/);
  expect(await solana.ledger.balanceOf(receiver as never)).toBe(PRICE);
  const { body } = await api.get(`${world.path}/history?trigger=public`);
  expect(body.data[0]).toMatchObject({
    caller: `wallet:${address}`,
    payment: { status: 'settled', payer: address },
  });
});
