import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChainPusherDatabase } from '@orrery/chain-pusher/operator';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { ANVIL_KEYS, startAnvil } from '@orrery/testing/servers';
import { sql } from 'kysely';
import { createPublicClient, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
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
  const ownerOf = async (contract: `0x${string}`): Promise<string> => {
    const client = createPublicClient({ transport: http(anvil.url) });
    const abi = parseAbi(['function owner() view returns (address)']);
    return client.readContract({ address: contract, abi, functionName: 'owner' });
  };
  return { configure, run, ownerOf };
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

it('deploys the registry for an owner whose key it does not have', async () => {
  const { run, ownerOf } = await prepare();
  const owner = privateKeyToAccount(ANVIL_KEYS[1]).address;
  const { contract } = JSON.parse(await run(['deploy', '--chain', 'local', '--owner', owner, '--json'], {}));
  expect(await ownerOf(contract)).toBe(owner);
  const deploying = run(['deploy', '--chain', 'local', '--owner', owner.replace('7', '8')]);
  await expect(deploying).rejects.toThrow('The owner has to be an address');
  expect(await run(['deploy', '--chain', 'local'])).toContain('deploy it with --owner');
});

it('tells operators what waits for what', async () => {
  const { run } = await prepare();
  const { url: databaseUrl, drop } = await createTestDatabase();
  onTestFinished(() => drop());
  const waiting = (...args: string[]) => run(['waiting', ...args], { DATABASE_URL: databaseUrl });
  expect(await waiting()).toBe('nothing waits');
  const logger = createLogger({ service: 'test', level: 'silent' });
  await using database = await openChainPusherDatabase({ databaseUrl, logger, maxConnections: 1 });
  await sql`insert into chains (name, signer, nonce) values ('local', 'own', 5)`.execute(database.db);
  await sql`
    insert into attempts (chain, signer, nonce, deployment, from_number, to_number) values
      ('local', 'own', 7, '0xb', 1, 3), ('local', 'own', 5, '', 1, 0), ('local', 'before', 9, '0xc', 1, 1)`.execute(
    database.db,
  );
  await sql`
    insert into lanes (deployment, chain, last_number, stop) values ('0xd', 'local', 4, 'failed')`.execute(
    database.db,
  );
  expect(JSON.parse(await waiting('--json'))).toMatchObject([
    { nonce: 5, deployment: '', waitsFor: 'its block' },
    { nonce: 7, deployment: '0xb', numbers: '1-3', waitsFor: '2 earlier transactions' },
    { nonce: 9, deployment: '0xc', waitsFor: 'its block; an earlier signer sent it' },
    { nonce: null, deployment: '0xd', numbers: '1-4', waitsFor: 'failed' },
  ]);
  expect(await waiting()).toMatch(/local +7 +0xb +1-3 .*2 earlier transactions/);
});

it('says what is wrong', async () => {
  const { configure, run } = await prepare();
  await expect(run(['deploy', '--chain', 'moon'])).rejects.toThrow(
    'CHAINS_FILE has no chain moon. It has: local.',
  );
  await expect(run(['check'], { CHAINS_FILE: '' })).rejects.toThrow('There are no chains: set CHAINS_FILE.');
  await expect(run(['deploy', '--chain', 'local'], { KEY: 'x' })).rejects.toThrow('set KEY, or KEY_FILE');
  await configure({ caip2: 'eip155:1' });
  await expect(run(['deploy', '--chain', 'local'])).rejects.toThrow(
    'of the chain eip155:31337, not of eip155:1.',
  );
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const address = `0x${'ab'.repeat(20)}`;
  const adopt = (deployment: string, chain: string, url = database.url) =>
    run(['adopt', '--deployment', deployment, '--chain', chain], { DATABASE_URL: url });
  await expect(adopt(address, 'local')).rejects.toThrow(
    `Nothing of ${address} was ever to be pushed to local.`,
  );
  // Neither opens a database.
  await expect(adopt(address, 'moon', 'x')).rejects.toThrow('CHAINS_FILE has no chain moon.');
  await expect(adopt('0xab', 'local', 'x')).rejects.toThrow('--deployment takes the address of a deployment');
});
