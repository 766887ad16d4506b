import { randomUUID } from 'node:crypto';
import { ServiceError } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBudgets } from '../src/runs/models/budgets.js';
import { createDeciderDouble, type DeciderCall } from './decider-double.js';
import { modelNamed } from './model-double.js';
import { codeOf, OWNER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<unknown>;
beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const options = { url: house.databaseUrl, schema: 'public', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect(options));
  for (const [index, event] of ['judge', 'weigh'].entries())
    house.catalog.plantVersion({
      event,
      versionId: 100 + index,
      inputSchema: { id: 'string' },
      readEntities: [{ schema: 'counter', filter: ['id'] }],
      stateChanges: { counter: 'partial' },
      behaviorPrompt: 'Judge.',
    });
});
const query = async (text: string, values: unknown[] = []) => (await database.pool.query(text, values)).rows;
const reservations = () => query('select usd::float8 as usd from runtime.ai_reservations');

const running: AsyncDisposable[] = [];
const boot = async () => {
  const priced = { ...modelNamed('priced', true), inputUsdPerMillionTokens: 1 };
  const runtime = await house.boot({
    decider: decider.decider,
    models: [priced, modelNamed('free of prices')],
  });
  running.push(runtime);
  return runtime;
};
afterEach(async () => {
  await query('delete from runtime.accounts');
  await query('delete from runtime.ai_reservations');
  await query('delete from runtime.ai_usage');
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

const bindings = ['judge', 'weigh'].map((event) => ({ event, eventVersion: 1 }));
const plant = async (body: object = {}) => {
  const planted = await plantDeployment(house, { bindings, ...body });
  const { params } = planted;
  return {
    ...planted,
    judge: (id: string) => planted.execute({ id }, {}, 'judge'),
    weigh: (id: string) => planted.execute({ id }, {}, 'weigh'),
    usage: async (asked: Record<string, string> = {}) =>
      (await house.call('deployments.usage', { params, query: asked })).data,
    set: (changed: object) => house.call('deployments.update', { params, body: changed }),
  };
};

const never = new AbortController().signal;
const cost = (usd: number | null) => ({ inputTokens: 100, outputTokens: 10, usd });

/** Keeps the account's budgets from being reserved. */
async function holdBudgets() {
  const client = await database.pool.connect();
  await client.query('begin');
  await client.query(`select pg_advisory_xact_lock(hashtextextended('runtime.ai-budgets', ${OWNER}))`);
  let isHeld = true;
  const release = async () => {
    if (isHeld) await client.query('rollback');
    if (isHeld) client.release();
    isHeld = false;
  };
  // The server has the databases of other tests too.
  const waiting = () =>
    query(`select pid from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`);
  return { waiting, release, [Symbol.asyncDispose]: release };
}

/** Reserves, settles and answers as a model would. */
async function decide(
  { request, answer, fail }: DeciderCall,
  most: number | null,
  actual = most,
): Promise<void> {
  try {
    const reservation = await request.budget.reserve(cost(most), never);
    await reservation.settle(cost(actual));
    answer({ [`counter:${request.input['id']}`]: { count: 1 } });
  } catch (error) {
    fail(error as Error);
  }
}

describe('the budget of a deployment', () => {
  it('is reserved before a request and counted after it, also for one that gave nothing', async () => {
    await boot();
    const { judge, usage, history } = await plant({ aiDailyBudgetUsd: 1 });
    const first = judge('a');
    const call = await decider.called();
    const reservation = await call.request.budget.reserve(cost(0.75), never);
    expect(await reservations()).toEqual([{ usd: 0.75 }]);
    await reservation.settle(cost(0.25));
    expect(await reservations()).toEqual([]);
    call.fail(new ServiceError('ai_output_invalid', 'Nothing.'));
    expect(await codeOf(first)).toBe('ai_output_invalid');
    const second = refusalOf(judge('a'));
    await decide(await decider.called(), 0.8);
    expect(await second).toMatchObject({
      code: 'budget_exhausted',
      facts: { limitedBy: 'deployment', limitUsd: 1, spentUsd: 0.25, requestUsd: 0.8, seq: 3 },
    });
    expect(await history()).toMatchObject([
      { status: 'failed', error: { code: 'budget_exhausted', facts: { limitedBy: 'deployment' } } },
      { status: 'failed', error: { code: 'ai_output_invalid' } },
    ]);
    const third = judge('a');
    await decide(await decider.called(), 0.75);
    await third;
    expect(await usage()).toMatchObject({ totals: { calls: 2, inputTokens: 200, outputTokens: 20, usd: 1 } });
  });

  it('is not exceeded by executions at the same time', async () => {
    await boot();
    const { judge } = await plant({ aiDailyBudgetUsd: 1 });
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => judge(id));
    const calls = await Promise.all(all.map(() => decider.called()));
    const granted = await Promise.allSettled(
      calls.map(({ request }) => request.budget.reserve(cost(0.3), never)),
    );
    expect(granted.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const { answer } of calls) answer({});
    await Promise.all(all);
  });

  it('is reserved by one transaction for all executions of an account that ask meanwhile', async () => {
    const { context } = await boot();
    const { deployment } = await plant();
    await using holder = await holdBudgets();
    const payers = Array.from({ length: 900 }, () => ({
      executionId: randomUUID(),
      deploymentId: deployment.id,
      accountId: OWNER,
      event: 'judge',
      dailyBudgetUsd: 899,
      deadline: Date.now() + 600_000,
    }));
    const all = payers.map((payer) => context.budgets.of(payer).reserve(cost(1), never));
    const settled = Promise.allSettled(all);
    await vi.waitFor(async () => expect(await holder.waiting()).toHaveLength(1));
    await holder.release();
    const granted = (await settled).filter(({ status }) => status === 'fulfilled');
    expect(granted).toHaveLength(899);
    expect(await reservations()).toHaveLength(899);
  });

  it('stays reserved until the deadline, also for a process whose time is ahead', async () => {
    const { context } = await boot();
    const { deployment } = await plant();
    const reserve = (aheadMs: number, usd: number) => {
      const clock = new FakeClock();
      clock.set(aheadMs);
      const payer = { deploymentId: deployment.id, accountId: OWNER, event: 'judge', dailyBudgetUsd: 1 };
      const run = { ...payer, executionId: randomUUID(), deadline: clock.monotonic() + 120_000 };
      return createBudgets({ ...context, clock })
        .of(run)
        .reserve(cost(usd), never);
    };
    await reserve(0, 0.9);
    expect(await codeOf(reserve(180_000, 0.2))).toBe('budget_exhausted');
    await reserve(180_000, 0.1);
    expect(await reservations()).toHaveLength(2);
  });

  it('is reserved again where the connection broke meanwhile', async () => {
    await boot();
    const { judge, history } = await plant({ aiDailyBudgetUsd: 1 });
    await using holder = await holdBudgets();
    const answer = judge('a');
    const decided = decide(await decider.called(), 0.5);
    await vi.waitFor(async () => expect(await holder.waiting()).toHaveLength(1));
    for (const { pid } of await holder.waiting()) await query('select pg_terminate_backend($1)', [pid]);
    await holder.release();
    await decided;
    await answer;
    expect(await history()).toMatchObject([{ status: 'succeeded' }]);
  });

  it('and a model without prices refuse each other, when they are saved and when they are used', async () => {
    await boot();
    const pointed = async (saved: Promise<unknown>) => {
      const { code, errors } = await refusalOf(saved);
      return [code, errors[0]?.pointer];
    };
    const free = { aiModelId: 'free of prices' };
    const refused = (pointer: string) => ['ai_model_unpriced', pointer];
    expect(await pointed(plant({ ...free, aiDailyBudgetUsd: 1 }))).toEqual(refused('/aiDailyBudgetUsd'));
    const { set, judge, usage } = await plant({ aiDailyBudgetUsd: 1 });
    expect(await pointed(set(free))).toEqual(refused('/aiModelId'));
    await set({ ...free, aiDailyBudgetUsd: null });
    expect(await pointed(set({ aiDailyBudgetUsd: 1 }))).toEqual(refused('/aiDailyBudgetUsd'));
    const answer = judge('a');
    await decide(await decider.called(), null);
    await answer;
    expect(await usage()).toMatchObject({ totals: { calls: 1, usd: 0 } });
    await set({ aiModelId: null, aiDailyBudgetUsd: 1 });
    const unpriced = codeOf(judge('a'));
    await decide(await decider.called(), null);
    expect(await unpriced).toBe('ai_model_unpriced');
  });

  it('is free again of what a process reserved that died', async () => {
    const first = await boot();
    const { judge, createCounter, usage } = await plant({ aiDailyBudgetUsd: 1 });
    await createCounter('a');
    const answer = judge('a').catch(() => undefined);
    const { request } = await decider.called();
    await request.budget.reserve(cost(0.9), never);
    await first[Symbol.asyncDispose]();
    running.length = 0;
    await answer;
    await boot();
    const again = await decider.called();
    expect(again.request.executionId).toBe(request.executionId);
    const reservation = await again.request.budget.reserve(cost(0.9), never);
    expect(await reservations()).toEqual([{ usd: 0.9 }]);
    const other = codeOf(judge('b'));
    await decide(await decider.called(), 0.2);
    expect(await other).toBe('budget_exhausted');
    await query(`update runtime.ai_reservations set expires_at = now() - interval '1 second'`);
    // What nobody has settled was not spent, whether the row is still there or not.
    expect(await reservations()).toEqual([{ usd: 0.9 }]);
    expect(await usage()).toMatchObject({ totals: { usd: 0 }, days: [] });
    const later = judge('b');
    await decide(await decider.called(), 0.9, 0.1);
    await later;
    expect(await reservations()).toEqual([]);
    await reservation.settle(cost(0.9));
    again.answer({});
  });
});

const giveQuota = (usd: number) =>
  query(
    'insert into runtime.accounts (account_id, ai_usd_per_day, disabled, revision) values ($1, $2, false, 1)',
    [OWNER, usd],
  );

describe('the quota of an account', () => {
  it('refuses a model without prices before it is called, and a free one has the price 0', async () => {
    await boot();
    await giveQuota(0);
    const { judge, set, usage } = await plant({ aiModelId: 'free of prices' });
    const unpriced = refusalOf(judge('a'));
    await decide(await decider.called(), null);
    expect(await unpriced).toMatchObject({
      code: 'ai_model_unpriced',
      message: expect.stringMatching(/quota.*prices.*operator.*0 for a free one/),
    });
    expect(await usage()).toMatchObject({ totals: { calls: 0 } });
    await set({ aiModelId: 'priced' });
    const free = judge('a');
    await decide(await decider.called(), 0);
    await free;
    expect(await usage()).toMatchObject({ totals: { calls: 1, usd: 0 } });
    // An account without a quota is not bound, be it known or not.
    await query('update runtime.accounts set ai_usd_per_day = null where account_id = $1', [OWNER]);
    await set({ aiModelId: 'free of prices' });
    const unbound = judge('a');
    await decide(await decider.called(), null);
    await unbound;
  });

  it('covers all its deployments, with or without budgets of their own', async () => {
    await boot();
    await giveQuota(1);
    const [one, other] = [await plant(), await plant({ aiDailyBudgetUsd: 5 })];
    const first = one.judge('a');
    await decide(await decider.called(), 0.6);
    await first;
    const second = refusalOf(other.judge('a'));
    await decide(await decider.called(), 0.6);
    expect(await second).toMatchObject({
      code: 'budget_exhausted',
      facts: { limitedBy: 'account', spentUsd: 0.6 },
    });
    const third = other.judge('a');
    await decide(await decider.called(), 0.4);
    await third;
  });
});

describe('what models cost a deployment', () => {
  it('is listed by UTC day and event, for its owner', async () => {
    await boot();
    const { judge, weigh, usage, params, deployment } = await plant();
    const today = new Date().toISOString().slice(0, 10);
    expect(await usage()).toMatchObject({ to: today, totals: { calls: 0 }, days: [] });
    for (const execute of [judge, weigh, judge]) {
      const answer = execute('a');
      await decide(await decider.called(), 0.125);
      await answer;
    }
    const dry = house.call('deployments.execute', {
      params,
      query: { dryRun: true },
      body: { event: 'weigh', input: { id: 'a' } },
    });
    await decide(await decider.called(), 0.125);
    await dry;
    await query(
      `insert into runtime.ai_usage select deployment_id, day - 40, event, account_id, 7, 70, 7, 0.5
       from runtime.ai_usage where deployment_id = $1 and event = 'judge'`,
      [deployment.id],
    );
    const counted = { calls: 2, inputTokens: 200, outputTokens: 20, usd: 0.25 };
    const days = [
      { day: today, event: 'judge', ...counted },
      { day: today, event: 'weigh', ...counted },
    ];
    const totals = { calls: 4, inputTokens: 400, outputTokens: 40, usd: 0.5 };
    expect(await usage()).toMatchObject({ to: today, totals, days });
    const before = new Date(Date.now() - 40 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    expect(await usage({ from: before, to: before })).toEqual({
      from: before,
      to: before,
      totals: { calls: 7, inputTokens: 70, outputTokens: 7, usd: 0.5 },
      days: [{ day: before, event: 'judge', calls: 7, inputTokens: 70, outputTokens: 7, usd: 0.5 }],
    });
    expect((await usage({ from: before })).days).toHaveLength(3);
    const stranger = house.call('deployments.usage', { params }, { accountId: 2 });
    expect(await codeOf(stranger)).toBe('deployment_not_found');
  });

  it.each([
    [{ from: '2026-02-31' }, '#query/from'],
    [{ to: '22.11.2026' }, '#query/to'],
    [{ from: '2026-02-02', to: '2026-02-01' }, '#query/from'],
    [{ from: '2026-01-01', to: '2026-04-03' }, '#query/from'],
    [{ to: '0000-01-01' }, '#query/to'],
  ])('is refused for the days %j', async (asked, pointer) => {
    await boot();
    const { usage } = await plant();
    const { code, errors } = await refusalOf(usage(asked));
    expect([code, errors[0]?.pointer]).toEqual(['validation_failed', pointer]);
  });
});
