import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase } from '@orrery/testing';
import { ANVIL_KEYS, startAnvil } from '@orrery/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../src/program.js';

async function prepare() {
  const anvil = await startAnvil();
  const folder = await mkdtemp(join(tmpdir(), 'orrery-chains-'));
  onTestFinished(async () => {
    await anvil.stop();
    await rm(folder, { recursive: true });
  });
  const file = join(folder, 'chains.json');
  const chain = {
    name: 'local',
    caip2: 'eip155:31337',
    family: 'evm',
    rpcUrls: [anvil.url],
    signerKeyEnv: 'KEY',
  };
  const configure = (more: object = {}) => writeFile(file, JSON.stringify([{ ...chain, ...more }]));
  await configure();
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const lines: string[] = [];
    const program = createProgram({
      env: { CHAINS_FILE: file, KEY: ANVIL_KEYS[0], ...env },
      write: (line) => lines.push(line),
      note: () => undefined,
      confirm: async () => false,
    });
    await program.parseAsync(['node', 'orrery', 'chains', ...args]);
    return lines.join('\n');
  };
  return { configure, run };
}

it('deploys the registry and tells when pushes can be sent', async () => {
  const { configure, run } = await prepare();
  const checked = async () => JSON.parse(await run(['check', '--json']))[0];
  expect(await checked()).toMatchObject({
    status: 'unavailable',
    reason: 'no registry contract is configured',
  });
  const { contract } = JSON.parse(await run(['deploy', '--chain', 'local', '--json']));
  expect(contract).toMatch(/^0x[0-9a-f]{40}$/);
  await configure({ contract });
  expect(await checked()).toMatchObject({ status: 'available', reason: null, balance: expect.any(Number) });
  expect(await run(['check'])).toMatch(/^name +caip2 .*\nlocal +eip155:31337 .*available/);
  await configure({ contract: `0x${'1'.repeat(40)}` });
  expect(await checked()).toMatchObject({ reason: `there is no contract at 0x${'1'.repeat(40)}` });
  await configure({ contract, caip2: 'eip155:1' });
  expect(await checked()).toMatchObject({ reason: 'the RPC server is of the chain eip155:31337' });
  await configure({ contract, rpcUrls: ['http://127.0.0.1:9'] });
  expect(await checked()).toMatchObject({ reason: 'no RPC server of the chain answers', balance: null });
});

it('says what is wrong', async () => {
  const { configure, run } = await prepare();
  await expect(run(['deploy', '--chain', 'moon'])).rejects.toThrow('CHAINS_FILE has no chain moon.');
  await expect(run(['check'], { CHAINS_FILE: '' })).rejects.toThrow('There are no chains: set CHAINS_FILE.');
  await expect(run(['deploy', '--chain', 'local'], { KEY: 'x' })).rejects.toThrow('set KEY, or KEY_FILE');
  await configure({ caip2: 'eip155:1' });
  await expect(run(['deploy', '--chain', 'local'])).rejects.toThrow(
    'of the chain eip155:31337, not of eip155:1.',
  );
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const adopting = run(['adopt', '--deployment', '0xab', '--chain', 'local'], { DATABASE_URL: database.url });
  await expect(adopting).rejects.toThrow('Nothing of 0xab was ever to be pushed to local.');
});
