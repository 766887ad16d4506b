import { runtimeContract, ServiceError } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CommitOutcome } from '../src/store/commit/commit-statement.js';
import { codeOf, type House, OWNER, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
let database: Database<unknown>;
const query = async <Row>(sql: string) => (await database.pool.query(sql)).rows as Row[];
const owners = () =>
  query<{ owner: string; count: number }>('select owner, count(*)::int from runtime.partitions group by 1');
const running: AsyncDisposable[] = [];
const boot = async (...options: Parameters<House['boot']>) => {
  const runtime = await house.boot(...options);
  running.push(runtime);
  return runtime;
};

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  database = house.resources.use(
    'looking on',
    await connect({ url: house.databaseUrl, schema: 'public', applicationName: 'test', logger }),
  );
});
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

/** Executes without pause until told to stop; answers how many were acknowledged. */
function keepExecuting({ execute }: Awaited<ReturnType<typeof plantDeployment>>, id: string) {
  let stopped = false;
  let done = 0;
  let waiting: { count: number; resolve: () => void }[] = [];
  const client = async () => {
    while (!stopped) {
      await execute({ id });
      done += 1;
      for (const { count, resolve } of waiting) if (done >= count) resolve();
      waiting = waiting.filter(({ count }) => done < count);
    }
  };
  const clients = Promise.all([client(), client(), client(), client()]);
  const reached = (count: number) =>
    Promise.race([clients, new Promise<void>((resolve) => waiting.push({ count, resolve }))]);
  return {
    done: () => done,
    reached,
    stop: async () => {
      stopped = true;
      await clients;
      return done;
    },
  };
}

describe('owners', () => {
  it('one process owns everything, two share, and a handover under load loses nothing', async () => {
    const first = await boot();
    expect(await owners()).toEqual([{ owner: first.instance, count: 64 }]);
    const deployments = await Promise.all(Array.from({ length: 4 }, () => plantDeployment(house)));
    const loads = deployments.map((deployment) => keepExecuting(deployment, 'moving'));
    const second = await boot();
    await first.leases.runOnce();
    await second.leases.runOnce();
    // What is handed over during a commit is taken when the commit has ended.
    await vi.waitFor(async () => expect((await owners()).map(({ count }) => count)).toEqual([32, 32]));
    await Promise.all(loads.map((load) => load.reached(load.done() + 20)));
    await first[Symbol.asyncDispose]();
    await second.leases.runOnce();
    await vi.waitFor(async () => expect(await owners()).toEqual([{ owner: second.instance, count: 64 }]));
    await Promise.all(loads.map((load) => load.reached(load.done() + 20)));
    for (const [index, load] of loads.entries()) {
      const count = await load.stop();
      expect(await deployments[index]?.counter('moving')).toMatchObject({
        state: { count },
        revision: count,
      });
      expect(await deployments[index]?.verify()).toMatchObject({ valid: true });
    }
  });

  it('follow one that is gone within a lease, also when the clock of the database is set back', async () => {
    await (await house.boot())[Symbol.asyncDispose]();
    // As the rows of a process that was killed look after that.
    const ahead = "now() + interval '1 hour'";
    await query(`update runtime.partitions set owner = 'gone', expires_at = ${ahead}, epoch = epoch + 1`);
    await query(`insert into runtime.members (instance, expires_at) values ('gone', ${ahead})`);
    const heir = await boot({ leaseTtlMs: 4000 });
    await vi.waitFor(async () => expect(await owners()).toEqual([{ owner: heir.instance, count: 64 }]));
    await query(`delete from runtime.members where instance = 'gone'`);
    await (await plantDeployment(house)).execute({ id: 'clock' });
  });

  it('an owner that lost its lease without noticing commits nothing', async () => {
    await boot();
    const { execute, counter, params } = await plantDeployment(house);
    await execute({ id: 'mine' });
    await query(
      `update runtime.partitions set owner = 'thief', epoch = epoch + 1, expires_at = now() + interval '1 hour'`,
    );
    const stolen = house.call(
      'deployments.execute',
      { params, body: { event: 'increment', input: { id: 'mine' } } },
      { patience: 1000 },
    );
    expect(['deadline_exceeded', 'unavailable']).toContain(await codeOf(stolen));
    expect(await counter('mine')).toMatchObject({ state: { count: 1 } });
    await query(`update runtime.partitions set owner = null, expires_at = null`);
    await running.splice(0)[0]?.[Symbol.asyncDispose]();
    await boot();
    await execute({ id: 'mine' });
    expect(await counter('mine')).toMatchObject({ state: { count: 2 } });
  });
});

it('a forwarded execution whose decider reaches nobody is decided once', async () => {
  house.catalog.plantVersion({
    event: 'judge',
    versionId: 80,
    behaviorPrompt: 'Judge.',
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
  });
  let decisions = 0;
  const decider = async () => {
    decisions += 1;
    throw new ServiceError('unavailable', 'The model is away.', { facts: { reached: false } });
  };
  const first = await boot({ decider });
  const bindings = ['increment', 'judge'].map((event) => ({ event, eventVersion: 1 }));
  const { deployment, params, history } = await plantDeployment(house, { bindings });
  const second = await boot({ decider });
  await first.leases.runOnce();
  await second.leases.runOnce();
  const [{ owner } = { owner: '' }] = await query<{ owner: string }>(
    `select owner from runtime.partitions where id = ${deployment.id} % 64`,
  );
  const execution = house.bus.call(
    runtimeContract.rpcs['deployments.execute'],
    { params, query: {}, headers: {}, body: { event: 'judge', input: { id: 'x' } } },
    {
      caller: { kind: 'account', accountId: OWNER, scopes: ['execute'] },
      requestId: 'once',
      deadline: Date.now() + 20_000,
      instance: owner === first.instance ? second.instance : first.instance,
    },
  );
  expect(await codeOf(execution)).toBe('unavailable');
  expect(decisions).toBe(1);
  expect(await history()).toMatchObject([{ status: 'failed', error: { code: 'unavailable' } }]);
});

describe('a commit whose answer is lost', () => {
  const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

  it('counts once when it was written', async () => {
    let losing = false;
    await boot({
      aroundCommit: (commit) => async (batch) => {
        const outcome = await commit(batch);
        if (!losing) return outcome;
        losing = false;
        throw lost();
      },
    });
    const { execute, counter, verify } = await plantDeployment(house);
    await execute({ id: 'once' });
    losing = true;
    await Promise.all([execute({ id: 'once' }), execute({ id: 'once' })]);
    await execute({ id: 'once' });
    expect(await counter('once')).toMatchObject({ state: { count: 4 }, revision: 4 });
    expect(await verify()).toMatchObject({ valid: true, entries: 5 });
  });

  it('is decided anew when it was not written, and can no longer be', async () => {
    let losing = false;
    let late: (() => Promise<CommitOutcome>) | undefined;
    await boot({
      aroundCommit: (commit) => async (batch) => {
        if (!losing) return commit(batch);
        losing = false;
        late = () => commit(batch);
        throw lost();
      },
    });
    const { execute, counter, verify } = await plantDeployment(house);
    await execute({ id: 'anew' });
    losing = true;
    await Promise.all([execute({ id: 'anew' }), execute({ id: 'anew' })]);
    expect(await late?.()).toMatchObject({ kind: 'refused', heads: [], runs: [], keys: [] });
    await execute({ id: 'anew' });
    expect(await counter('anew')).toMatchObject({ state: { count: 4 }, revision: 4 });
    expect(await verify()).toMatchObject({ valid: true, entries: 5 });
  });

  it('a definite failure of one item fails that item only', async () => {
    let poisoned = false;
    await boot({
      aroundCommit: (commit) => async (batch) => {
        const hit = batch.entries.some(({ entry }) => JSON.stringify(entry.input).includes('poison'));
        if (poisoned && hit) throw Object.assign(new Error('value out of range'), { code: '22003' });
        return commit(batch);
      },
    });
    const { execute, counter, verify } = await plantDeployment(house);
    poisoned = true;
    const outcomes = await Promise.allSettled(['x', 'poison', 'x', 'x'].map((id) => execute({ id })));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await counter('x')).toMatchObject({ state: { count: 3 } });
    expect(await verify()).toMatchObject({ valid: true, entries: 4 });
  });
});
