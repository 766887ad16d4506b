import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ERRORS, INNER_KINDS as KINDS_OF_CONTRACT } from '@orrery/contracts';
import {
  createOrrery,
  type Deployment,
  INNER_KINDS,
  injectedWallet,
  type Orrery,
  OrreryError,
  type StreamEvent,
} from '@orrery/sdk';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { repositoryRoot, type System } from '@orrery/testing/system';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { Client } from 'pg';
import nacl from 'tweetnacl';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { startLosingProxy } from '../src/external/losing-proxy.js';
import { startPaidHouse } from '../src/public/paid-house.js';
import { homeOf } from '../src/tampering/home-of.js';
import { racingWorld } from '../src/worlds/racing-world.js';
import { PRICE, RECEIVER } from '../src/worlds/toasts.js';

const run = promisify(execFile);
const readme = readFileSync(join(repositoryRoot, 'packages/sdk/README.md'), 'utf8');

let database: TestDatabase;
let house: Awaited<ReturnType<typeof startPaidHouse>>;
let system: System;
let orrery: Orrery;
beforeAll(async () => {
  database = await createTestDatabase();
  house = await startPaidHouse(database.url);
  system = house.system;
  orrery = createOrrery({ url: system.url, token: system.key });
});
afterAll(async () => {
  await house?.[Symbol.asyncDispose]();
  await database?.drop();
});

const HORSE = { event: 'race_result', input: { raceId: 'R', winner: 'HORSE_1' } };

/** The racing world, as a deployment of the SDK. */
async function derby(): Promise<Deployment> {
  const { deployment } = await racingWorld(apiClient(system.url, system.key));
  const [, , world = '', , address = ''] = deployment.split('/');
  return orrery.deployment(world, address);
}

const TRAINING = { event: 'training', input: { horse: 'HORSE_1', hours: 1 } };

async function train(deployment: Deployment, times: number): Promise<void> {
  await Promise.all(Array.from({ length: times }, () => deployment.execute(TRAINING)));
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const errorOf = (promise: Promise<unknown>): Promise<OrreryError> =>
  promise.then(
    () => Promise.reject(new Error('it succeeded')),
    (error) => error,
  );

describe('the SDK', () => {
  it('works as its README says, as a package in a plain Node', async () => {
    const blocks = [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    expect(blocks.length).toBeGreaterThan(7);
    const args = ['--no-warnings', '--input-type=module', '--eval', blocks.join('\n')];
    const env = { ...process.env, ORRERY_URL: system.url, ORRERY_KEY: system.key };
    const { stdout, stderr } = await run(process.execPath, args, { cwd: repositoryRoot, env });
    expect(stderr).toBe('');
    expect(stdout).toContain('400 validation_failed\n/name ');
    expect(stdout).toMatch(/^2 \{ 'horse:HORSE_1': \{ wins: 1 \} \}$/m);
    expect(stdout).toMatch(/^holds until entry 7, whose hash is [0-9a-f]{64}$/m);
    expect(stdout).toMatch(/^true \{ rerun: \d, notRerun: \{\} \}$/m);
  });

  it('knows which errors may be tried again', () => {
    const known = Object.entries(ERRORS).map(([code, { status, retryable }]) => [code, status, retryable]);
    const told = Object.entries(ERRORS).map(([code, { status }]) => {
      const error = new OrreryError({ code, status, detail: '' });
      return [code, status, error.retryable];
    });
    expect(told).toEqual(known);
  });

  it('knows which entries tell what happens inside a deployment', () => {
    expect([...INNER_KINDS]).toEqual(KINDS_OF_CONTRACT);
  });

  it('tells errors by code, pointer and request', async () => {
    const wrong = { name: 'x', domainTags: ['ok', ''] };
    const error = await errorOf(orrery.post('/api/worlds', { body: wrong }));
    expect(error).toBeInstanceOf(OrreryError);
    expect(error).toMatchObject({
      status: 400,
      code: 'validation_failed',
      pointers: [{ pointer: '/domainTags/1' }],
      requestId: expect.any(String),
    });
    const stranger = createOrrery({ url: system.url, token: 'orrery_none' });
    expect(await errorOf(stranger.get('/api/me'))).toMatchObject({ status: 401, code: 'unauthorized' });
  });

  it('executes once for one key, tries out, and tells why an execution failed', async () => {
    const deployment = await derby();
    expect(await deployment.dryRun(HORSE)).toMatchObject({
      dryRun: true,
      stateChanges: { 'horse:HORSE_1': { wins: 1 } },
    });
    const first = await deployment.execute(HORSE, { idempotencyKey: 'race-1' });
    expect(await deployment.execute(HORSE, { idempotencyKey: 'race-1' })).toEqual(first);
    expect(first.stateChanges).toEqual({ 'horse:HORSE_1': { wins: 1, stamina: 80 } });
    const missing = { event: 'training', input: { horse: 'NONE', hours: 1 } };
    expect(await errorOf(deployment.execute(missing))).toMatchObject({
      status: 400,
      code: 'template_failed',
    });
  });

  it('executes once although answers are lost', async () => {
    const { path } = await derby();
    await using proxy = await startLosingProxy(system.url, 3);
    const lossy = createOrrery({ url: proxy.url, token: system.key });
    const deployment = lossy.deployment(path.worldAddress, path.address);
    expect(await deployment.execute(TRAINING)).toMatchObject({ seq: 3 });
    expect(proxy.lost).toBe(3);
    expect(await collect(deployment.history())).toHaveLength(1);
  });

  it('waits for executions that go on without it', async () => {
    const deployment = await derby();
    const succeeding = await deployment.start(HORSE);
    expect(await deployment.waitFor(succeeding)).toMatchObject({ event: 'race_result', eventVersion: 1 });
    const failing = await deployment.start({ event: 'training', input: { horse: 'NONE', hours: 1 } });
    const error = await errorOf(deployment.waitFor(failing));
    expect(error).toMatchObject({ name: 'OrreryError', code: 'template_failed' });
  });

  it('goes through lists, histories and journals of any length', async () => {
    const deployment = await derby();
    await train(deployment, 120);
    const { path } = deployment;
    const events = '/api/worlds/{worldAddress}/events';
    const pages = await collect(orrery.pages(events, { path, query: { limit: 1 } }));
    expect(pages.map(({ data, pagination }) => [data.length, pagination.total])).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const names = (await collect(orrery.list(events, { path }))).map(({ name }) => name);
    expect(names).toEqual(['race_result', 'training']);
    const history = (await collect(deployment.history({ event: 'training' }))).map(({ seq }) => seq);
    expect(history).toEqual(Array.from({ length: 120 }, (_, index) => 122 - index));
    const journal = (await collect(deployment.journal())).map(({ seq }) => seq);
    expect(journal).toEqual(Array.from({ length: 122 }, (_, index) => index + 1));
    const part = (await collect(deployment.journal({ after: 119, until: 500 }))).map(({ seq }) => seq);
    expect(part).toEqual([120, 121, 122]);
    const instances = await collect(deployment.instances({ entitySchema: 'horse' }));
    expect(await collect(deployment.instances({ atSeq: 1 }))).toEqual([]);
    expect(instances.map(({ state }) => state['speed'])).toEqual([70]);
  });

  it('follows a deployment while others write, every entry once', async () => {
    const deployment = await derby();
    const events = deployment.stream({ after: 0, include: 'all' });
    const kinds: string[] = [];
    const follow = async (count: number) => {
      for (; kinds.length < count; ) {
        const { value } = await events.next();
        const event = value as StreamEvent;
        if (event.type === 'entry') kinds.push(`${event.entry.seq} ${event.entry.kind}`);
      }
    };
    await follow(2);
    const changed = { path: { ...deployment.path, instanceId: 'HORSE_1' }, body: { state: { wins: 7 } } };
    await orrery.put(
      '/api/worlds/{worldAddress}/deployments/{address}/entity-instances/{instanceId}',
      changed,
    );
    // The service tells of it at once; nothing else happens that would.
    await follow(3);
    await orrery.post('/api/worlds/{worldAddress}/deployments/{address}/publish', { path: deployment.path });
    await deployment.execute(HORSE);
    await follow(5);
    await events.return();
    expect(kinds).toEqual([
      '1 deployment_created',
      '2 instance_created',
      '3 instance_updated',
      '4 published',
      '5 execution',
    ]);
  });

  it('ends a stream when the key is revoked', async () => {
    const deployment = await derby();
    const { id, token } = await orrery.post('/api/keys', { body: { name: 'short', scopes: ['read'] } });
    const short = createOrrery({ url: system.url, token });
    const { worldAddress, address } = deployment.path;
    const events = short.deployment(worldAddress, address).stream({ after: 1 });
    await deployment.execute(HORSE);
    await events.next();
    await orrery.delete('/api/keys/{id}', { path: { id } });
    expect(await errorOf(events.next())).toMatchObject({ status: 401, code: 'unauthorized' });
  });
});

describe('verification by the SDK', () => {
  const DEPLOYMENTS = '/api/worlds/{worldAddress}/deployments';

  async function season(): Promise<Deployment> {
    const deployment = await derby();
    const { path } = deployment;
    for (let race = 0; race < 6; race += 1) await deployment.execute(HORSE).catch(() => undefined);
    const instances = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';
    const one = `${instances}/{instanceId}` as const;
    const state = { note: 'näïve ☃ \u2028', odds: 1e-7, big: 1e21, nested: { b: [null, true], a: {} } };
    for (const instanceId of ['a:b', 'gone'])
      await orrery.post(instances, { path, body: { entitySchema: 'horse', instanceId, state } });
    await orrery.put(one, { path: { ...path, instanceId: 'a:b' }, body: { state: { wins: 2 } } });
    await orrery.delete(one, { path: { ...path, instanceId: 'gone' } });
    return deployment;
  }

  it('holds for a season, with progress', async () => {
    const deployment = await season();
    const progress: number[] = [];
    const onProgress = (seq: number, last: number) => void progress.push(seq, last);
    const [last] = await collect(deployment.journal({ after: 11 }));
    expect(await deployment.verifyHistory({ onProgress })).toEqual({
      valid: true,
      entries: 12,
      linked: 0,
      hash: last?.hash,
      instances: 2,
      firstDivergence: null,
    });
    expect(progress.slice(-2)).toEqual([12, 12]);
  });

  it('follows a clone to its source, and says so when the source is gone', async () => {
    const { path } = await season();
    const { worldAddress, address: sourceDeployment } = path;
    const body = { name: 'Fork', bindings: [], sourceDeployment, sourceSeq: 11 };
    const fork = await orrery.post(DEPLOYMENTS, { path: { worldAddress }, body });
    const clone = orrery.deployment(worldAddress, fork.address);
    await clone.execute({ ...HORSE, input: { raceId: 'R2', winner: 'NEW' } });
    expect(await clone.verifyHistory()).toMatchObject({ valid: true, entries: 2, instances: 4 });
    await orrery.delete(`${DEPLOYMENTS}/{address}`, { path });
    expect(await clone.verifyHistory()).toMatchObject({ valid: true, entries: 2, instances: null });
  });

  it('holds while others write, create and delete', async () => {
    const deployment = await derby();
    await train(deployment, 30);
    const { path } = deployment;
    const instances = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances';
    const one = `${instances}/{instanceId}` as const;
    let writing = true;
    const write = async (): Promise<number> => {
      let rounds = 0;
      for (; writing; rounds += 1) {
        const instanceId = `guest-${rounds}`;
        await orrery.post(instances, { path, body: { entitySchema: 'horse', instanceId } });
        await deployment.execute(TRAINING);
        await orrery.delete(one, { path: { ...path, instanceId } });
      }
      return rounds;
    };
    const written = write();
    const outcomes = [];
    for (let round = 0; round < 5; round += 1) outcomes.push(await deployment.verifyHistory());
    writing = false;
    expect(await written).toBeGreaterThan(0);
    expect(outcomes.map(({ firstDivergence }) => firstDivergence)).toEqual(outcomes.map(() => null));
  });

  it.each([
    [
      'an altered input',
      `update runtime.journal set input = '{"raceId": "X"}' where seq = 4`,
      { seq: 4, what: 'wrong_hash' },
    ],
    ['a removed entry', 'delete from runtime.journal where seq = 5', { seq: 5, what: 'missing_entry' }],
    [
      'two entries that changed places',
      'update runtime.journal set seq = case seq when 3 then -4 when 4 then -3 end where seq in (3, 4);' +
        ' update runtime.journal set seq = -seq where seq < 0',
      { seq: 3, what: 'broken_link' },
    ],
    [
      'an altered instance',
      `update runtime.instances set state = state || '{"wins": 99}' where instance_id = 'HORSE_1'`,
      { seq: 12, what: 'instance_differs', instance: 'horse:HORSE_1' },
    ],
    [
      'a removed instance',
      `delete from runtime.instances where instance_id = 'HORSE_1'`,
      { seq: 12, what: 'instance_differs', instance: 'horse:HORSE_1' },
    ],
    [
      'an added instance',
      `update runtime.instances set instance_id = 'NEW' where instance_id = 'HORSE_1'`,
      { seq: 12, what: 'instance_differs', instance: 'horse:NEW' },
    ],
  ])('finds %s', async (_, statements, where) => {
    const deployment = await season();
    const record = await orrery.get(`${DEPLOYMENTS}/{address}`, { path: deployment.path });
    await tamper(statements, record.id);
    const { valid, firstDivergence } = await deployment.verifyHistory();
    expect(valid).toBe(false);
    expect(firstDivergence).toEqual({ deployment: record.address, ...where });
  });

  /** Runs the statements for one deployment only. */
  async function tamper(statements: string, deploymentId: number): Promise<void> {
    const client = new Client({ connectionString: await homeOf(system, deploymentId) });
    await client.connect();
    for (const statement of statements.split(';'))
      await client.query(`${statement} and deployment_id = ${deploymentId}`);
    await client.end();
  }
});

describe('public execution by the SDK', () => {
  const { publicKey, secretKey } = nacl.sign.keyPair();
  const wallet = {
    publicKey,
    sign: (message: Uint8Array) => nacl.sign.detached(message, secretKey),
  };
  const visitor = () => createOrrery({ url: system.url });

  it('executes with a wallet; a signed message takes effect once', async () => {
    const { address } = house.world;
    const target = { deployment: address, event: 'enter', input: { name: 'Ada' } };
    const many = await Promise.all([1, 2, 3].map(() => visitor().executePublic({ ...target, by: wallet })));
    expect(many.map(({ settlement }) => settlement)).toEqual([null, null, null]);
    const client = visitor();
    const [first, second] = await Promise.all([1, 2].map(() => client.signMessage(target, wallet)));
    if (first === undefined || second === undefined) throw new Error('not signed');
    expect(first.message).not.toBe(second.message);
    const answer = await client.executePublic({ ...target, by: first });
    expect(answer.stateChanges['guest:Ada']).toMatchObject({ by: first.wallet });
    expect(await client.executePublic({ ...target, by: first })).toEqual(answer);
  });

  it('executes with the key of an account on EVM chains, also one that a browser has', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const target = { deployment: house.world.address, event: 'enter', input: { name: 'Eve' } };
    const { stateChanges } = await visitor().executePublic({ ...target, by: account });
    expect(stateChanges['guest:Eve']).toMatchObject({ by: account.address });
    const ethereum = {
      request: async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
        if (method === 'eth_requestAccounts') return [account.address.toLowerCase()];
        const [raw, signer] = params as [`0x${string}`, string];
        expect([method, signer]).toEqual(['personal_sign', account.address.toLowerCase()]);
        return account.signMessage({ message: { raw } });
      },
    };
    const again = await visitor().executePublic({ ...target, by: await injectedWallet(ethereum) });
    expect(again.stateChanges['guest:Eve']).toMatchObject({ by: account.address });
  });

  it('executes by a payment alone where the event allows it', async () => {
    const account = privateKeyToAccount(await house.newPayer());
    const payer = new x402Client().setSpendControls({ maxAmountPerPayment: '$0.02' });
    registerExactEvmScheme(payer, { signer: account });
    const target = { deployment: house.world.address, event: 'treat', input: { name: 'alone' } };
    const before = await house.evm.balanceOf(RECEIVER);
    const { stateChanges } = await visitor().executePublic({ ...target, payer });
    expect(stateChanges['guest:alone']).toMatchObject({ by: account.address });
    expect((await house.evm.balanceOf(RECEIVER)) - before).toBe(PRICE);
    const refused = await errorOf(visitor().executePublic({ ...target, event: 'toast', payer }));
    expect(refused).toMatchObject({ status: 401, code: 'signature_required' });
  });

  it('executes a message once although answers are lost', async () => {
    await using proxy = await startLosingProxy(system.url, 2);
    const target = { deployment: house.world.address, event: 'enter', input: { name: 'Lost' }, by: wallet };
    const { stateChanges } = await createOrrery({ url: proxy.url }).executePublic(target);
    expect(proxy.lost).toBe(2);
    expect(stateChanges['guest:Lost']).toMatchObject({ visits: 1 });
  });

  it('tells the price without a payer, and pays with one', async () => {
    const { address } = house.world;
    const target = { deployment: address, event: 'toast', input: { name: 'payer' }, by: wallet };
    const before = await house.evm.balanceOf(RECEIVER);
    const refused = await errorOf(visitor().executePublic(target));
    expect(refused).toMatchObject({ status: 402, code: 'payment_required' });
    expect(refused.paymentRequired?.accepts).toMatchObject([{ amount: String(PRICE), payTo: RECEIVER }]);
    const payer = new x402Client().setSpendControls({ maxAmountPerPayment: '$0.02' });
    registerExactEvmScheme(payer, { signer: privateKeyToAccount(await house.newPayer()) });
    const { stateChanges, settlement } = await visitor().executePublic({ ...target, payer });
    expect(stateChanges['guest:payer']).toMatchObject({ visits: 1 });
    expect(settlement).toMatchObject({ success: true, network: 'eip155:84532' });
    expect((await house.evm.balanceOf(RECEIVER)) - before).toBe(PRICE);
  });
});
