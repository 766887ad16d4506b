import { randomUUID } from 'node:crypto';
import { runtimeContract } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createDeciderDouble } from './decider-double.js';
import { type House, OWNER, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
let database: Database<unknown>;
const query = async <Row>(sql: string) => (await database.pool.query(sql)).rows as Row[];
const ownedBy = async (owner: string) => {
  const rows = await query<{ id: number }>(
    `select id from runtime.partitions where owner = '${owner}' order by id`,
  );
  return rows.map(({ id }) => id);
};
const running: AsyncDisposable[] = [];
const boot = async (...options: Parameters<House['boot']>) => {
  const runtime = await house.boot(...options);
  running.push(runtime);
  return runtime;
};
const partitionOf = ({ deployment }: Awaited<ReturnType<typeof plantDeployment>>) =>
  Number(deployment.id) % 64;

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  database = house.resources.use(
    'looking on',
    await connect({ url: house.databaseUrl, schema: 'public', applicationName: 'test', logger }),
  );
  house.catalog.plantVersion({
    event: 'judge',
    versionId: 80,
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
  });
});
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

const bindings = ['increment', 'judge'].map((event) => ({ event, eventVersion: 1 }));
function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const plant = () => plantDeployment(house, { bindings });

/** Notes the partitions that were handed over although something of them was being committed. */
function noteLate() {
  const late: number[] = [];
  const write = (line: string) => {
    const { msg, partition } = JSON.parse(line) as { msg: string; partition: number };
    if (msg === 'a partition is handed over during a commit') late.push(partition);
  };
  return { late, logger: createLogger({ service: 'test', level: 'info', destination: { write } }) };
}

it('a stolen partition costs no other partition of the same batch anything', async () => {
  const decider = createDeciderDouble();
  // It notices by its batch alone: its next regular run would be 200 seconds later.
  const owner = await boot({ decider: decider.decider, leaseTtlMs: 600_000 });
  const planted = [await plant(), await plant(), await plant(), await plant()] as const;
  const execute = ({ params }: (typeof planted)[number], event: string, id: string) =>
    house.call('deployments.execute', { params, body: { event, input: { id } } });
  const judged = planted.map((one) => execute(one, 'judge', 'a').catch(() => 'late'));
  const calls = [];
  for (const _ of planted) calls.push(await decider.called());
  const [stolen, ...others] = planted;
  await query(
    `update runtime.partitions set owner = 'thief', epoch = epoch + 1, expires_at = now() + interval '1 hour'
     where id = ${partitionOf(stolen)}`,
  );
  // One batch, of which one lease is lost.
  const late = execute(stolen, 'increment', 'b').catch(() => 'late');
  await Promise.all(others.map((one) => execute(one, 'increment', 'b')));
  const ofOthers = calls.filter(
    ({ request }) => request.deployment.address !== String(stolen.deployment.address),
  );
  expect(ofOthers).toHaveLength(3);
  for (const { signal, answer } of ofOthers) {
    expect(signal.aborted).toBe(false);
    answer({ 'counter:a': { count: 5 } });
  }
  await Promise.all(judged.slice(1));
  expect(decider.calls()).toBe(4);
  for (const { counter } of others) expect(await counter('a')).toMatchObject({ state: { count: 5 } });
  await query(`update runtime.partitions set owner = null, expires_at = null where owner = 'thief'`);
  await owner.leases.runOnce();
  // The run that was lost with its partition goes on: the tests below have no such run beside theirs.
  (await decider.called()).answer({ 'counter:a': { count: 5 } });
  await vi.waitFor(async () => expect(await stolen.counter('a')).toMatchObject({ state: { count: 5 } }));
  await late;
});

it('idle partitions are handed over without waiting for a slow commit beside them, which loses nothing', async () => {
  const [begun, finished] = [deferred(), deferred()];
  let isSlow = false;
  const { late, logger } = noteLate();
  const first = await boot({
    logger,
    // Nothing moves before it stops: its next regular run would be 200 seconds later.
    leaseTtlMs: 600_000,
    aroundCommit: (commit) => async (batch) => {
      if (isSlow) {
        begun.resolve();
        await finished.promise;
      }
      return commit(batch);
    },
  });
  const [busy, idle] = [await plant(), await plant()];
  await Promise.all([busy.execute({ id: 'a' }), idle.execute({ id: 'a' })]);
  const second = await boot();
  isSlow = true;
  const answer = busy.execute({ id: 'a' });
  await begun.promise;
  await first.leases.stop();
  expect(late).toEqual([partitionOf(busy)]);
  await vi.waitFor(async () => expect((await ownedBy(second.instance)).length).toBeGreaterThan(62));
  await idle.execute({ id: 'a' });
  finished.resolve();
  await answer;
  expect(await busy.counter('a')).toMatchObject({ state: { count: 2 }, revision: 2 });
  expect(await busy.verify()).toMatchObject({ valid: true });
});

it('an item that waits for the catalog does not delay a stop, and is executed by the next owner', async () => {
  const handedOverLate = noteLate();
  const first = await boot({ logger: handedOverLate.logger });
  const [planted, idle] = [await plant(), await plant()];
  await idle.execute({ id: 'a' });
  const claimed = house.catalog.handlers['claims.schemas'];
  const [asked, late] = [deferred(), deferred()];
  house.catalog.handlers['claims.schemas'] = async (request, call) => {
    house.catalog.handlers['claims.schemas'] = claimed;
    asked.resolve();
    await late.promise;
    return claimed(request, call);
  };
  const answer = planted.execute({ id: 'a' });
  await asked.promise;
  const second = await boot();
  await first.leases.stop();
  expect(handedOverLate.late).toEqual([]);
  await idle.execute({ id: 'a' });
  await answer;
  late.resolve();
  await vi.waitFor(async () => expect(await ownedBy(second.instance)).toHaveLength(64));
  expect(await planted.counter('a')).toMatchObject({ state: { count: 1 }, revision: 1 });
});

it('partitions that move only for balance wait for the answers of models, which are asked once', async () => {
  const decider = createDeciderDouble();
  const boots = { decider: decider.decider };
  const first = await boot(boots);
  // Two more than its share.
  const planted = await Promise.all(Array.from({ length: 34 }, plant));
  const judged = planted.map(({ params }) =>
    house.call('deployments.execute', { params, body: { event: 'judge', input: { id: 'a' } } }),
  );
  const addresses = new Set(planted.map(({ deployment }) => deployment.address));
  const calls: Awaited<ReturnType<typeof decider.called>>[] = [];
  while (calls.length < planted.length) {
    const call = await decider.called();
    // Owners also go on with runs of the tests before.
    if (addresses.has(call.request.deployment.address)) calls.push(call);
    else call.answer({ 'counter:a': { count: 5 } });
  }
  const asked = decider.calls();
  const second = await boot(boots);
  await first.leases.runOnce();
  const busy = planted.map(partitionOf).toSorted((a, b) => a - b);
  await vi.waitFor(async () => expect(await ownedBy(first.instance)).toEqual(busy));
  expect(calls.map(({ signal }) => signal.aborted)).not.toContain(true);
  for (const { answer } of calls) answer({ 'counter:a': { count: 5 } });
  await Promise.all(judged);
  await vi.waitFor(async () => expect(await ownedBy(second.instance)).toHaveLength(32));
  expect(decider.calls()).toBe(asked);
});

it('two processes hold the even and the odd partitions', async () => {
  const first = await boot();
  const second = await boot();
  await first.leases.runOnce();
  await second.leases.runOnce();
  const evens = Array.from({ length: 32 }, (_, index) => 2 * index);
  expect(await ownedBy(first.instance)).toEqual(evens);
  expect(await ownedBy(second.instance)).toEqual(evens.map((even) => even + 1));
});

it('the only process of a database takes the leases of one that died at once', async () => {
  await (await house.boot())[Symbol.asyncDispose]();
  await query(
    `update runtime.partitions set owner = 'dead', epoch = epoch + 1, expires_at = now() + interval '1 hour'`,
  );
  await query(`insert into runtime.members values ('dead', now() + interval '1 hour')`);
  const next = await boot({ soleProcess: true });
  expect(await ownedBy(next.instance)).toHaveLength(64);
});

it('the leases of a process that died are taken as soon as they end', async () => {
  // Its next regular run would be 200 seconds later.
  const survivor = await boot({ leaseTtlMs: 600_000 });
  await query(
    `update runtime.partitions set owner = 'dead', epoch = epoch + 1, expires_at = now() + interval '1 hour'
     where id % 2 = 1`,
  );
  await query(`insert into runtime.members values ('dead', now() + interval '1 hour')`);
  await survivor.leases.runOnce();
  expect(await ownedBy(survivor.instance)).toHaveLength(32);
  await query(`update runtime.members set expires_at = now() + interval '990 ms' where instance = 'dead'`);
  await query(`update runtime.partitions set expires_at = now() + interval '1000 ms' where owner = 'dead'`);
  await survivor.leases.runOnce();
  await vi.waitFor(async () => expect(await ownedBy(survivor.instance)).toHaveLength(64));
});

it('a client whose process was lost finds the run of its call at the next owner', async () => {
  const decider = createDeciderDouble();
  const first = await boot({ decider: decider.decider });
  const { deployment, params } = await plant();
  /** Owners also go on with runs of the tests before. */
  const called = async () => {
    for (;;) {
      const call = await decider.called();
      if (call.request.deployment.address === deployment.address) return call;
    }
  };
  const options = {
    caller: { kind: 'account' as const, accountId: OWNER, scopes: ['execute' as const] },
    requestId: 'lost',
    deadline: Date.now() + 240_000,
  };
  const callId = randomUUID();
  const { rpcs } = runtimeContract;
  const body = { event: 'judge', input: { id: 'a' } };
  const lost = house.bus
    .call(rpcs['deployments.execute'], { params, query: {}, headers: {}, body }, { ...options, callId })
    .catch((error: unknown) => error);
  await called();
  // It neither hands over nor answers any more, and takes no partition again.
  void first.leases.stop();
  await query(`delete from runtime.members`);
  await query('update runtime.partitions set owner = null, expires_at = null');
  const next = await boot({ decider: decider.decider });
  const ofCall = (id: string) =>
    house.bus.call(
      rpcs['executions.ofCall'],
      { params, callId: id },
      { ...options, instance: next.instance },
    );
  expect(await ofCall(randomUUID())).toEqual({ data: null });
  const found = ofCall(callId);
  const again = await called();
  again.answer({ 'counter:a': { count: 9 } });
  const reply = await found;
  expect(reply).toMatchObject({ data: { stateChanges: { 'counter:a': { count: 9 } } } });
  expect(await lost).toEqual(reply);
});
