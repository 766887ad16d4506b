import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { query, startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { startDebianPostgres } from '../src/external/debian-postgres.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { startCounting } from '../src/load/start-counting.js';
import { evmOffers, writePaymentsFile } from '../src/public/evm-offers.js';
import { startLocalChain } from '../src/starting/start-local-chain.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';
import { publicWorld } from '../src/worlds/public-world.js';
import { RECEIVER, sellToasts } from '../src/worlds/toasts.js';
import { publicRequests } from './public-suite.js';

const run = promisify(execFile);
const DEPLOYMENTS = 4;
const patiently = { interval: 100 };

/** A local chain, and how many pushes it holds. */
async function startChain(resources: Resources) {
  const { anvil, env, contract } = await startLocalChain(resources);
  const pushed = async () => {
    const filter = { address: contract, fromBlock: '0x0', topics: [[PUSHED]] };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(anvil.url, { method: 'POST', headers, body });
    return ((await answer.json()) as { result: unknown[] }).result.length;
  };
  return { env, pushed };
}

/** keccak256 of `Pushed(address,uint64,bytes32,bytes32,bytes)`. */
const PUSHED = '0x57a630756b52337e0b52c8a6e94f0e5104db3fba897ae1749150212b05f5f259';

/** What docs/operations.md calls `orrery`: it may log in, create nothing, and owns its databases. */
const USER = 'services';

/** A server on which a superuser makes databases for that user. */
async function startServer() {
  const postgres = await startDebianPostgres();
  onTestFinished(postgres.stop);
  const admin = postgres.urlOf('postgres');
  await query(admin, `create role ${USER} login`);
  const createDatabase = async (name: string): Promise<string> => {
    await run('createdb', ['--maintenance-db', admin, `--owner=${USER}`, name]);
    return Object.assign(new URL(postgres.urlOf(name)), { username: USER }).href;
  };
  return { createDatabase };
}

async function startOn(databaseUrl: string, env: Record<string, string>): Promise<FiveProcesses> {
  // An empty store each time: what the messages of another one tell, a restored database has not seen.
  const nats = await startNatsServer();
  onTestFinished(nats.stop);
  const system = await startFiveProcesses({ databaseUrl, natsUrl: nats.url }, env);
  onTestFinished(() => system[Symbol.asyncDispose]());
  return system;
}

describeWithProgram('pg_restore', 'a dump that was made under load', () => {
  it('is restored to a state that verifies, goes on, and repeats no push and no payment', async () => {
    const { createDatabase } = await startServer();
    const resources = new Resources(PATIENT);
    onTestFinished(() => resources.release());
    const folder = await mkdtemp(join(tmpdir(), 'orrery-backup-'));
    resources.add('folder', () => rm(folder, { recursive: true, force: true }));
    const { env: chainEnv, pushed } = await startChain(resources);
    const evm: EvmPayments = resources.use('payments', await startEvmPayments());
    const paymentsFile = join(folder, 'payments.json');
    await writePaymentsFile(paymentsFile, evm);
    // A message is as good after the restore as before.
    const unhurried = { RATE_LIMITS: 'false', MESSAGE_MAX_AGE_S: '3600' };
    const env = { ...chainEnv, PAYMENTS_FILE: paymentsFile, ...unhurried };
    const dumped = await createDatabase('orrery');
    const first = await startOn(dumped, env);
    const api = apiClient(first.url, first.key);
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    const pushing = await deploy();
    await api.put(`${pushing}/event-bindings`, [{ event: 'count', targetChains: ['local'] }]);
    const execute = async (to: typeof api, operation: number) =>
      expect((await to.post(`${pushing}/execute`, countRequest(operation))).status).toBe(200);
    for (const operation of [1, 2, 3]) await execute(api, operation);
    await vi.waitFor(async () => expect(await pushed()).toBe(3), patiently);

    const selling = await publicWorld(api);
    await sellToasts(api, selling, RECEIVER);
    const send = publicRequests(first.url, selling);
    const offer = evmOffers(evm, send);
    const kept = await offer('kept');
    const paid = await send(kept);
    expect(paid.status).toBe(200);

    const counting = startCounting({ api, deployments, clients: 16 });
    await counting.acknowledged(300);
    const dump = join(folder, 'orrery.dump');
    await run('pg_dump', ['--format=custom', `--file=${dump}`, dumped]);
    await counting.acknowledged(counting.count() + 100);
    await counting.finish();
    expect(await counting.problems()).toEqual([]);
    for (const operation of [4, 5]) await execute(api, operation);
    const lost = await offer('lost');
    expect((await send(lost)).status).toBe(200);
    await vi.waitFor(async () => expect(await pushed()).toBe(5), patiently);
    await first[Symbol.asyncDispose]();

    const empty = await createDatabase('restored');
    await run('pg_restore', [`--dbname=${empty}`, '--no-owner', '--exit-on-error', dump]);
    const second = await startOn(empty, env);
    const restored = apiClient(second.url, first.key);
    let counted = 0;
    for (const deployment of [...deployments, pushing, selling.path]) {
      const { body } = await restored.get(`${deployment}/history/verify`);
      expect(body.data).toMatchObject({ valid: true });
      if (!deployments.includes(deployment)) continue;
      const counter = await restored.get(`${deployment}/entity-instances/C`);
      counted += counter.body.data.state.value;
    }
    // Not all that came after the dump began, but all that was there before.
    expect(counted).toBeGreaterThanOrEqual(300 - DEPLOYMENTS);
    const more = startCounting({
      api: restored,
      deployments: [await (await counterWorld(restored)).deploy()],
      clients: 4,
    });
    await more.acknowledged(50);
    await more.finish();
    expect(await more.problems()).toEqual([]);

    // A payment that the dump has is answered from it; one that it lacks is spent, and charged no second time.
    expect((await send({ ...kept, url: second.url })).body).toEqual(paid.body);
    expect((await send({ ...lost, url: second.url })).status).toBe(402);
    expect([await kept.uses(), await lost.uses()]).toEqual([1, 1]);

    // The chain holds two executions that the restored journal lacks: the lane stops and pushes nothing.
    await execute(restored, 6);
    await vi.waitFor(async () => {
      const { body } = await restored.get(`${pushing}/pushes`);
      expect(body.data[0]).toMatchObject({ number: 4, error: { code: 'chain_ahead' } });
    }, patiently);
    expect(await pushed()).toBe(5);
  });
});
