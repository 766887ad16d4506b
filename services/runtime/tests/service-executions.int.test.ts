import {
  type Caller,
  type OnceKey,
  occurrenceKey,
  type ReplyOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { partitionOf } from '../src/store/leases/leases.js';
import { deleteExpiredOnceKeys } from '../src/store/runs/once-store.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { createDeciderDouble } from './decider-double.js';
import { codeOf, type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<RuntimeSchema>;
const runtimes: Awaited<ReturnType<House['boot']>>[] = [];

const HOUR_MS = 60 * 60 * 1000;
const SCHEDULE: Caller = { kind: 'schedule', event: 'increment' };
const AI_BINDING = [{ event: 'judge', eventVersion: 1 }];

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const address = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
  house.catalog.plantVersion({
    event: 'judge',
    versionId: 80,
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
  });
  for (let n = 0; n < 2; n += 1) runtimes.push(await house.boot({ decider: decider.decider }));
  database = house.resources.use('looking on', await connect<RuntimeSchema>(address));
  await vi.waitFor(async () => {
    for (const { leases } of runtimes) await leases.runOnce();
    const owners = await database.pool.query('select count(distinct owner)::int as n from partitions');
    expect(owners.rows[0]).toEqual({ n: 2 });
  });
});

let count = 0;
const newKey = (scope: OnceKey['scope'] = 'message', more: object = {}): OnceKey => {
  count += 1;
  return { scope, key: `${scope} ${count}`, ...more };
};
const patient = (caller: Caller, patience = 20_000) => ({
  caller,
  requestId: 'test',
  deadline: Date.now() + patience,
});
const { 'executions.forService': forService, 'executions.outcomeOf': outcomeOf } = runtimeContract.rpcs;

interface Sent {
  keys: readonly OnceKey[];
  event?: string;
  input?: object;
  expected?: object;
}
const requestOf = (deployment: string, more: Sent) => ({
  deployment,
  event: 'increment',
  input: { id: 'a' },
  trigger: 'cron' as const,
  ...more,
});
const once = (
  deployment: string,
  {
    caller = SCHEDULE,
    patience,
    leavesRun,
    ...sent
  }: Sent & { caller?: Caller; patience?: number; leavesRun?: true },
): Promise<ReplyOf<typeof forService>> =>
  house.bus.call(forService, requestOf(deployment, sent) as never, {
    ...patient(caller, patience),
    leavesRun,
  });
const outcome = (deployment: string, { scope, key }: OnceKey) =>
  house.bus.call(outcomeOf, { deployment, scope, key }, patient(SCHEDULE));
const stored = async ({ scope, key }: OnceKey) => {
  const { rows } = await database.pool.query<{ expires_at: Date | null; reply: unknown }>(
    'select expires_at, reply from once_keys where scope = $1 and key = $2',
    [scope, key],
  );
  return rows[0];
};
const plant = async (body: object = {}) => {
  const planted = await plantDeployment(house, body);
  return { ...planted, address: planted.deployment.address };
};

/** Two deployments that different runtimes own. */
async function ofTwoOwners() {
  const first = await plant();
  // A partition that changes hands has no owner for a moment.
  const ownerOf = (id: number) =>
    vi.waitFor(async () => {
      const { rows } = await database.pool.query<{ owner: string | null }>(
        'select owner from partitions where id = $1',
        [partitionOf(id)],
      );
      expect(rows[0]?.owner).not.toBeNull();
      return rows[0]?.owner;
    });
  for (;;) {
    const second = await plant();
    if ((await ownerOf(second.deployment.id)) !== (await ownerOf(first.deployment.id)))
      return [first, second];
    await database.pool.query(`select setval(pg_get_serial_sequence('runtime.deployments', 'id'), $1)`, [
      second.deployment.id + 7,
    ]);
  }
}

describe('an execution for a service', () => {
  it('happens once for its keys, and a repetition gets its outcome', async () => {
    const { address, history, counter } = await plant();
    const keys = [newKey('message'), newKey('payment')];
    const first = await once(address, { keys });
    expect(first).toMatchObject({ state: 'ended', status: 'succeeded', seq: 2, answer: { seq: 2 } });
    expect(await once(address, { keys })).toEqual(first);
    for (const key of keys) expect(await outcome(address, key)).toEqual(first);
    expect((await counter('a')).state['count']).toBe(1);
    expect(await history()).toMatchObject([{ caller: 'schedule:increment', trigger: 'cron' }]);
  });

  it('is refused when a key was used with another request, in another deployment too', async () => {
    const [one, other] = [await plant(), await plant()];
    const [message, payment] = [newKey('message'), newKey('payment')];
    await once(one.address, { keys: [message, payment] });
    expect(await codeOf(once(one.address, { keys: [message], input: { id: 'b' } }))).toBe(
      'message_already_used',
    );
    expect(await codeOf(once(other.address, { keys: [newKey(), payment] }))).toBe('payment_already_used');
    expect(await other.history()).toEqual([]);
  });

  it('happens in one of two deployments whose owners get the same key at the same moment', async () => {
    const pair = await ofTwoOwners();
    for (let trial = 0; trial < 50; trial += 1) {
      const keys = [newKey()];
      const outcomes = await Promise.allSettled(pair.map(({ address }) => once(address, { keys })));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const refused = outcomes.find((one) => one.status === 'rejected');
      expect(refused?.reason).toMatchObject({ code: 'message_already_used' });
    }
    const totals = await Promise.all(
      pair.map(async ({ history }) => (await history({ limit: '100' })).length),
    );
    expect(totals.reduce((sum, one) => sum + one, 0)).toBe(50);
  });

  it('that is refused before it reads leaves its keys free', async () => {
    const { address } = await plant();
    const keys = [newKey()];
    expect(await codeOf(once(address, { keys, event: 'unbound' }))).toBe('event_not_bound');
    expect(await outcome(address, keys[0] as OnceKey)).toEqual({ state: 'unknown' });
    expect(await once(address, { keys })).toMatchObject({ status: 'succeeded' });
  });

  it('that fails is a reply, and has used its keys', async () => {
    const { address, createCounter, history } = await plant();
    await createCounter('a', { count: Number.MAX_SAFE_INTEGER });
    const keys = [newKey()];
    const failure = await once(address, { keys });
    expect(failure).toMatchObject({
      state: 'ended',
      status: 'failed',
      seq: 3,
      error: { code: expect.any(String) },
    });
    expect(await once(address, { keys })).toEqual(failure);
    expect(await outcome(address, keys[0] as OnceKey)).toEqual(failure);
    expect(await history()).toHaveLength(1);
  });

  it('is refused when something else is bound than expected, and leaves no entry', async () => {
    const { address, history, execute } = await plant();
    await execute({ id: 'x' });
    const [entry] = await history();
    const versionHash = entry?.versionHash ?? '';
    const keys = [newKey()];
    for (const expected of [
      { eventVersion: 2, versionHash },
      { eventVersion: 1, versionHash: '0'.repeat(64) },
      { eventVersion: 1, versionHash, bindingId: 999_999 },
    ])
      expect(await codeOf(once(address, { keys, expected }))).toBe('binding_changed');
    expect(await history()).toHaveLength(1);
    const reply = await once(address, { keys, expected: { eventVersion: 1, versionHash } });
    expect(reply).toMatchObject({ status: 'succeeded' });
  });

  it('is for schedules alone', async () => {
    const { address } = await plant();
    const others: Caller[] = [
      { kind: 'account', accountId: 1, scopes: ['execute'] },
      { kind: 'service', service: 'test' },
      { kind: 'wallet', wallet: 'w' },
      { kind: 'anonymous' },
    ];
    for (const caller of others)
      expect(await codeOf(once(address, { keys: [newKey()], caller }))).toBe('forbidden');
  });
});

describe('an execution for a service that becomes a run', () => {
  it('goes on after the deadline of its caller; a repetition waits for it', async () => {
    const { address } = await plant({ bindings: AI_BINDING });
    const keys = [newKey('occurrence')];
    // On a busy machine a call of a short deadline may end before it was accepted; a repetition is the same execution.
    const within = (patience: number): ReturnType<typeof once> =>
      once(address, { keys, event: 'judge', patience }).catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === 'deadline_exceeded') return within(2 * patience);
        throw error;
      });
    const first = within(1200);
    const call = await decider.called();
    const running = { state: 'running', executionId: call.request.executionId };
    expect(await first).toEqual(running);
    expect(await outcome(address, keys[0] as OnceKey)).toEqual(running);
    const again = once(address, { keys, event: 'judge' });
    call.answer({ stateChanges: { 'counter:a': { count: 5 } } });
    const ended = await again;
    expect(ended).toMatchObject({ state: 'ended', status: 'succeeded', seq: 2 });
    expect(await outcome(address, keys[0] as OnceKey)).toEqual(ended);
    expect(await once(address, { keys, event: 'judge' })).toEqual(ended);
  });

  it('is answered with before it has ended where its caller does not wait for it', async () => {
    const { address } = await plant({ bindings: AI_BINDING });
    const keys = [newKey('occurrence')];
    const running = { state: 'running', executionId: expect.any(String) };
    const first = once(address, { keys, event: 'judge', leavesRun: true });
    const call = await decider.called();
    expect(await first).toEqual(running);
    expect(await once(address, { keys, event: 'judge', leavesRun: true })).toEqual(running);
    const again = once(address, { keys, event: 'judge' });
    call.answer({ stateChanges: { 'counter:a': { count: 5 } } });
    const ended = await again;
    expect(ended).toMatchObject({ status: 'succeeded' });
    expect(await once(address, { keys, event: 'judge', leavesRun: true })).toEqual(ended);
  });

  it('releases its keys when it is refused, and keeps them when it fails', async () => {
    const { address, params } = await plant({ bindings: AI_BINDING });
    const keys = [newKey('occurrence')];
    const paused = once(address, { keys, event: 'judge' });
    const call = await decider.called();
    await house.call('deployments.pause', { params });
    call.answer({ stateChanges: { 'counter:a': { count: 5 } } });
    expect(await codeOf(paused)).toBe('deployment_paused');
    expect(await outcome(address, keys[0] as OnceKey)).toEqual({ state: 'unknown' });
    await house.call('deployments.resume', { params });
    const failing = once(address, { keys, event: 'judge' });
    (await decider.called()).answer({ stateChanges: { 'nothing:a': { count: 5 } } });
    const failure = await failing;
    expect(failure).toMatchObject({ state: 'ended', status: 'failed' });
    expect(await once(address, { keys, event: 'judge' })).toEqual(failure);
  });
});

describe('a once-key', () => {
  it('of a message is kept for its window, and for 24 hours at least', async () => {
    const { address } = await plant();
    for (const [windowMs, kept] of [
      [HOUR_MS, 24 * HOUR_MS],
      [48 * HOUR_MS, 48 * HOUR_MS],
    ] as const) {
      const key = newKey('message', { windowMs });
      await once(address, { keys: [key] });
      // The runtime reads the database's clock, which may be a little ahead of this one.
      const left = Number((await stored(key))?.expires_at) - Date.now();
      expect(left).toBeGreaterThan(kept - 60_000);
      expect(left).toBeLessThan(kept + 60_000);
    }
  });

  it('that has expired is free again, and is swept', async () => {
    const { address, counter } = await plant();
    const [used, left] = [newKey(), newKey()];
    for (const key of [used, left]) await once(address, { keys: [key] });
    const names = [used.key, left.key];
    await database.pool.query(
      `update once_keys set expires_at = now() - interval '1 second' where key = any($1)`,
      [names],
    );
    expect(await once(address, { keys: [used] })).toMatchObject({ seq: 4 });
    expect((await counter('a')).state['count']).toBe(3);
    expect(await deleteExpiredOnceKeys(database.db, 100)).toBe(1);
    expect([await stored(used), await stored(left)]).toEqual([expect.anything(), undefined]);
  });

  it('of an occurrence is kept until it is acknowledged, that of a payment for ever', async () => {
    const { address } = await plant();
    const keys = [newKey('occurrence'), newKey('payment')] as const;
    await once(address, { keys: [...keys] });
    for (const key of keys) expect(await stored(key)).toMatchObject({ expires_at: null });
    const { 'executions.acknowledge': acknowledge } = runtimeContract.rpcs;
    await house.bus.call(acknowledge, { occurrences: keys.map(({ key }) => key) }, patient(SCHEDULE));
    expect(await stored(keys[0])).toBeUndefined();
    expect(await stored(keys[1])).toBeDefined();
  });

  it('of an occurrence that is forgotten is refused, and so is what came before it in its schedule', async () => {
    const { address, counter } = await plant();
    const { 'executions.acknowledge': acknowledge } = runtimeContract.rpcs;
    const keyAt = (position: number, kind: 'due' | 'run' = 'due', attempt = 1): OnceKey => {
      const key = { deployment: address, event: 'increment', kind, position, attempt };
      return { scope: 'occurrence', key: occurrenceKey(key) };
    };
    for (const position of [1, 2, 3]) await once(address, { keys: [keyAt(position * HOUR_MS)] });
    const occurrences = [1, 2].map((position) => keyAt(position * HOUR_MS).key);
    await house.bus.call(acknowledge, { occurrences }, patient(SCHEDULE));
    const late = [keyAt(HOUR_MS), keyAt(2 * HOUR_MS), keyAt(2 * HOUR_MS, 'due', 2), keyAt(0)];
    for (const key of late) {
      expect(await codeOf(once(address, { keys: [key] }))).toBe('idempotency_key_reused');
      expect(await outcome(address, key)).toEqual({ state: 'unknown' });
    }
    expect(await once(address, { keys: [keyAt(3 * HOUR_MS)] })).toMatchObject({ seq: 4 });
    expect((await counter('a')).state['count']).toBe(3);
    await once(address, { keys: [keyAt(4 * HOUR_MS)] });
    await once(address, { keys: [keyAt(1, 'run')] });
    expect((await counter('a')).state['count']).toBe(5);
  });

  it('of an occurrence under way stays its own, also when it is acknowledged too early', async () => {
    const { address, history } = await plant({ bindings: AI_BINDING });
    const key = newKey('occurrence');
    const underWay = once(address, { keys: [key], event: 'judge' });
    const { answer } = await decider.called();
    const { 'executions.acknowledge': acknowledge } = runtimeContract.rpcs;
    await house.bus.call(acknowledge, { occurrences: [key.key] }, patient(SCHEDULE));
    expect(await stored(key)).toBeDefined();
    const again = once(address, { keys: [key], event: 'judge' });
    answer({ stateChanges: { 'counter:a': { count: 5 } } });
    expect(await again).toMatchObject({ state: 'ended', seq: 2 });
    expect(await underWay).toMatchObject({ state: 'ended', seq: 2 });
    expect(await history()).toHaveLength(1);
  });
});

it('goes on at the next owner when its owner goes away; a repetition gets its outcome', async () => {
  const { address, deployment, history } = await plant({ bindings: AI_BINDING });
  const keys = [newKey('occurrence')];
  const lost = once(address, { keys, event: 'judge' }).catch(() => undefined);
  await decider.called();
  const { rows } = await database.pool.query<{ owner: string }>(
    'select owner from partitions where id = $1',
    [partitionOf(deployment.id)],
  );
  await runtimes.find(({ instance }) => instance === rows[0]?.owner)?.[Symbol.asyncDispose]();
  const again = once(address, { keys, event: 'judge' });
  (await decider.called()).answer({ stateChanges: { 'counter:a': { count: 5 } } });
  expect(await again).toMatchObject({ state: 'ended', status: 'succeeded', seq: 2 });
  await lost;
  expect(await history()).toHaveLength(1);
});
