import { randomUUID } from 'node:crypto';
import { type CallContext, runtimeContract, ServiceError } from '@orrery/contracts';
import { connect, type Database, OutcomeUnknown } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { awaitRun } from '../src/runs/execute/execute.js';
import { createDeciderDouble } from './decider-double.js';
import {
  codeOf,
  type House,
  OWNER,
  plantDeployment,
  prepareHouse,
  refusalOf,
  refusedInVain,
} from './running-runtime.js';

const house: House = await prepareHouse();
const decider = createDeciderDouble();
let database: Database<unknown>;
const query = async <Row>(sql: string, values: unknown[] = []) =>
  (await database.pool.query(sql, values)).rows as Row[];

const running: AsyncDisposable[] = [];
const boot = async (...[options]: Parameters<House['boot']>) => {
  const runtime = await house.boot({ decider: decider.decider, ...options });
  running.push(runtime);
  return runtime;
};

beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  database = house.resources.use(
    'looking on',
    await connect({ url: house.databaseUrl, schema: 'public', applicationName: 'test', logger }),
  );
  const ai = { behaviorPrompt: 'Judge.', stateChanges: { counter: 'partial' as const } };
  house.catalog.plantVersion({
    ...ai,
    event: 'judge',
    versionId: 80,
    inputSchema: { id: 'string' },
    readEntities: [{ schema: 'counter', filter: ['id'] }],
  });
  house.catalog.plantVersion({
    ...ai,
    event: 'survey',
    versionId: 81,
    inputSchema: {},
    readEntities: [{ schema: 'counter' }],
  });
});
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
  decider.clear();
});

const bound = ['increment', 'judge', 'survey'].map((event) => ({ event, eventVersion: 1 }));

async function plantJudged() {
  const planted = await plantDeployment(house, { bindings: bound });
  const execute = (event: string, input: object, patience = 240_000, headers: Record<string, string> = {}) =>
    house.call(
      'deployments.execute',
      { params: planted.params, body: { event, input }, headers },
      { patience },
    );
  return {
    ...planted,
    judge: (id: string, patience?: number, headers?: Record<string, string>) =>
      execute('judge', { id }, patience, headers),
    survey: () => execute('survey', {}),
    increment: (id: string, patience?: number) => execute('increment', { id }, patience),
    look: (executionId: string) =>
      house.call('executions.get', { params: { ...planted.params, executionId } }),
  };
}

const setTo = (id: string, count: number) => ({ [`counter:${id}`]: { count } });

describe('a run', () => {
  it('calls the decider with what it read, applies the answer and leaves one entry', async () => {
    await boot();
    const { judge, createCounter, counter, history, verify, look } = await plantJudged();
    await createCounter('a', { label: 'a' });
    const answer = judge('a');
    const { request, answer: say } = await decider.called();
    expect(request).toMatchObject({
      input: { id: 'a' },
      entities: { counter: { a: { count: 0, label: 'a' } } },
      definition: { event: 'judge' },
    });
    expect((await look(request.executionId)).data).toEqual({
      executionId: request.executionId,
      state: 'running',
    });
    say({ stateChanges: setTo('a', 7), result: null }, { llmHash: 'c'.repeat(64), llm: { model: 'double' } });
    expect((await answer).data).toMatchObject({ seq: 3, stateChanges: { 'counter:a': { count: 7 } } });
    expect(await counter('a')).toMatchObject({ state: { count: 7, label: 'a' } });
    expect(await history()).toMatchObject([
      { status: 'succeeded', llmHash: 'c'.repeat(64), llm: { model: 'double' } },
    ]);
    expect(await verify()).toMatchObject({ valid: true });
    expect((await look(request.executionId)).data).toMatchObject({ state: 'succeeded', answer: { seq: 3 } });
  });

  it('goes ahead when only what it did not read has changed', async () => {
    await boot();
    const { judge, increment, counter } = await plantJudged();
    const answer = judge('a');
    const asked = await decider.called();
    await increment('b');
    asked.answer(setTo('a', 1));
    await answer;
    expect(await counter('a')).toMatchObject({ state: { count: 1 } });
  });

  it('whose read went stale is decided again, and then holds what it reads', async () => {
    await boot();
    const { judge, increment, counter, verify } = await plantJudged();
    await increment('a');
    const answer = judge('a');
    const first = await decider.called();
    await increment('a');
    first.answer(setTo('a', 100));
    const second = await decider.calledBefore(answer);
    expect(second.request).toMatchObject({
      executionId: first.request.executionId,
      entities: { counter: { a: { count: 2 } } },
    });
    let waited = true;
    const waiting = increment('a').finally(() => {
      waited = false;
    });
    await increment('b');
    expect(waited).toBe(true);
    expect(await counter('a')).toMatchObject({ state: { count: 2 } });
    second.answer(setTo('a', 200));
    const { data } = await answer;
    expect(data).toMatchObject({ stateChanges: { 'counter:a': { count: 200 } } });
    expect((await waiting).data).toMatchObject({ seq: (data as { seq: number }).seq + 1 });
    expect(await counter('a')).toMatchObject({ state: { count: 201 } });
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('that read a schema whole is decided again when an instance of it is new, and holds all of it', async () => {
    await boot();
    const { survey, increment, createCounter, counter, params } = await plantJudged();
    await createCounter('a');
    const answer = survey();
    const first = await decider.called();
    await createCounter('b');
    first.answer({});
    const second = await decider.calledBefore(answer);
    expect(Object.keys(second.request.entities['counter'] as object)).toEqual(['a', 'b']);
    const created = createCounter('c');
    const removed = house.call('instances.delete', { params: { ...params, instanceId: 'b' } });
    await house.call('deployments.update', { params, body: { name: 'Passes' } });
    second.answer(setTo('a', 5));
    await answer;
    await Promise.all([created, removed]);
    await increment('c');
    expect(await counter('c')).toMatchObject({ state: { count: 1 } });
  });

  it('is decided again when what it would create was created meanwhile', async () => {
    await boot();
    const { judge, createCounter, counter, verify } = await plantJudged();
    const answer = judge('a');
    const first = await decider.called();
    await createCounter('new');
    first.answer(setTo('new', 1));
    const second = await decider.calledBefore(answer);
    expect((await second.request.check(setTo('new', 1)))?.reason).toContain(
      'counter:new exists and was not read.',
    );
    second.answer(setTo('newer', 1));
    expect((await answer).data).toMatchObject({ stateChanges: { 'counter:newer': { count: 1 } } });
    expect(await counter('new')).toMatchObject({ state: { count: 0 } });
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('is decided again after a lock, and refused after a pause', async () => {
    await boot();
    const { judge, params, history, counter } = await plantJudged();
    const answer = judge('a');
    const first = await decider.called();
    await house.call('deployments.lock', { params });
    first.answer(setTo('a', 1));
    const second = await decider.calledBefore(answer);
    await house.call('deployments.pause', { params });
    second.answer(setTo('a', 2));
    expect(await codeOf(answer)).toBe('deployment_paused');
    expect(await history()).toEqual([]);
    expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
  });

  it('fails with the error of the decider, or with an answer that may not be applied', async () => {
    await boot();
    const { judge, history } = await plantJudged();
    const refused = judge('a');
    (await decider.called()).fail(new ServiceError('ai_output_invalid', 'twice'));
    expect(await codeOf(refused)).toBe('ai_output_invalid');
    const invalid = judge('a');
    (await decider.called()).answer({ 'counter:a': { label: 'zzz' } });
    const error = await refusalOf(invalid);
    expect(error.code).toBe('ai_output_invalid');
    expect(error.facts).toMatchObject({ seq: 3, refusal: 'invalid_state' });
    expect(await history()).toMatchObject([
      { status: 'failed', error: { code: 'ai_output_invalid', facts: { refusal: 'invalid_state' } } },
      { status: 'failed', error: { code: 'ai_output_invalid', detail: 'twice' } },
    ]);
  });

  it.each([
    ['of which nobody knows', new OutcomeUnknown('the connection was lost')],
    [
      'at a database that takes no writes',
      Object.assign(new pg.DatabaseError('no', 2, 'error'), { code: '25006' }),
    ],
  ])('fails as what it is after a statement %s', async (_what, thrown) => {
    await boot();
    const { judge, history } = await plantJudged();
    const failing = refusalOf(judge('a'));
    (await decider.called()).fail(thrown);
    const { code, facts } = await failing;
    // It is known that it has failed.
    expect([code, facts]).toEqual(['unavailable', { historyId: expect.any(String), seq: 2 }]);
    expect(await history()).toMatchObject([{ status: 'failed', error: { code: 'unavailable' } }]);
  });

  it('whose row cannot be read goes on, and its outcome is unknown', async () => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const gone = await connect({
      url: house.databaseUrl,
      schema: 'runtime',
      applicationName: 'test',
      logger,
    });
    await gone.close();
    const id = randomUUID();
    const call = {
      deadline: Date.now() + 20_000,
      signal: new AbortController().signal,
    } as unknown as CallContext;
    const asked = awaitRun({ db: gone.db as never, clock: systemClock }, id, Promise.resolve(), call);
    expect(await refusalOf(asked)).toMatchObject({
      code: 'unavailable',
      facts: { executionId: id, outcome: 'unknown' },
    });
  });

  it('under way when its process stops goes on elsewhere, and its caller is told which one it is', async () => {
    const stopping = await boot();
    const { judge, counter } = await plantJudged();
    const waiting = refusalOf(judge('a', 60_000));
    const { signal } = await decider.called();
    await stopping[Symbol.asyncDispose]();
    expect(signal.aborted).toBe(true);
    await boot();
    (await decider.called()).answer(setTo('a', 1));
    await vi.waitFor(async () => expect(await counter('a')).toMatchObject({ state: { count: 1 } }));
    const { code, facts } = await waiting;
    expect(['unavailable', 'deadline_exceeded']).toContain(code);
    expect(facts).toMatchObject(
      code === 'unavailable' ? { outcome: 'unknown' } : { executionId: expect.any(String) },
    );
  });

  it('ends with its deployment', async () => {
    await boot();
    const { judge, params } = await plantJudged();
    const answer = judge('a');
    const { request, answer: say } = await decider.called();
    await house.call('deployments.delete', { params });
    say(setTo('a', 1));
    expect(await codeOf(answer)).toBe('deployment_not_found');
    const rows = await query('select state from runtime.runs where id = $1', [request.executionId]);
    expect(rows).toEqual([{ state: 'failed' }]);
  });

  it('is taken on once when the answer of a commit is lost, whether it was written or not', async () => {
    const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    let losing: 'before' | 'after' | undefined;
    await boot({
      aroundCommit: (commit) => async (batch) => {
        const now = losing;
        losing = undefined;
        if (now === 'before') throw lost();
        const outcome = await commit(batch);
        if (now === 'after') throw lost();
        return outcome;
      },
    });
    const { judge, history, deployment } = await plantJudged();
    for (const when of ['before', 'after'] as const) {
      losing = when;
      const answer = judge('a', undefined, { 'idempotency-key': when });
      const asked = await decider.called();
      losing = when;
      asked.answer(setTo('a', 1));
      await answer;
    }
    expect(await history()).toHaveLength(2);
    const rows = await query('select state from runtime.runs where deployment_id = $1', [deployment.id]);
    expect(rows).toEqual([{ state: 'succeeded' }, { state: 'succeeded' }]);
  });

  it('makes others wait no longer than they can', async () => {
    const refusedWithin = async (aiDeadlineMs: number): Promise<unknown[]> => {
      await using _ = await house.boot({ decider: decider.decider, aiDeadlineMs });
      const { judge, increment, counter } = await plantJudged();
      await judge('a', undefined, { prefer: 'respond-async' });
      const first = await decider.called();
      await increment('a');
      first.answer({});
      const second = await decider.called();
      const waiting = await codeOf(increment('a', aiDeadlineMs));
      const rival = codeOf(judge('a'));
      const asked = await decider.calledBefore(rival).catch(() => undefined);
      asked?.answer(setTo('a', 9));
      const refused = [waiting, await rival];
      second.answer(setTo('a', 3));
      await vi.waitFor(async () => expect(await counter('a')).toMatchObject({ state: { count: 3 } }));
      // A busy machine may take all of the time, and has more then.
      return refused.includes('deadline_exceeded') ? refusedWithin(2 * aiDeadlineMs) : refused;
    };
    expect(await refusedWithin(2500)).toEqual(['write_conflict', 'write_conflict']);
  });

  it('goes on where its caller waits no longer, and tells which run it is', async () => {
    await boot();
    const { judge, look } = await plantJudged();
    // A busy machine may answer when the caller has left: another one waits for longer.
    const told = async (patience: number): Promise<unknown> => {
      const { code, facts } = await refusalOf(judge(`after ${patience}`, patience));
      expect(code).toBe('deadline_exceeded');
      return facts['executionId'] ?? told(2 * patience);
    };
    const executionId = String(await told(2000));
    for (let asked: string | undefined; asked !== executionId; ) {
      const { request, answer } = await decider.called();
      asked = request.executionId;
      answer(setTo(String(request.input['id']), 1));
    }
    await vi.waitFor(async () =>
      expect((await look(executionId)).data).toMatchObject({ state: 'succeeded' }),
    );
  });

  it('that is overdue fails, also when its owner is long gone', async () => {
    // On a busy machine it may be overdue before the decider is called: another one has more time.
    const overdueAfter = async (aiDeadlineMs: number): ReturnType<typeof plantAsked> => {
      const first = await boot({ aiDeadlineMs });
      const asked = await plantAsked().catch(() => undefined);
      if (asked !== undefined) return asked;
      running.splice(running.indexOf(first), 1);
      await first[Symbol.asyncDispose]();
      return overdueAfter(2 * aiDeadlineMs);
    };
    const plantAsked = async () => {
      const planted = await plantJudged();
      const late = codeOf(planted.judge('a'));
      return { ...planted, late, ...(await decider.calledBefore(late)) };
    };
    const { history, look, deployment, late, request, signal } = await overdueAfter(2000);
    expect(await late).toBe('deadline_exceeded');
    await vi.waitFor(async () => {
      expect((await look(request.executionId)).data).toMatchObject({
        state: 'failed',
        error: { code: 'deadline_exceeded' },
      });
    });
    expect(signal.aborted).toBe(true);
    for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
    const orphan = '01900000-0000-7000-8000-000000000001';
    const asked = { event: 'judge', input: { id: 'a' }, trigger: 'admin', walletAddress: null };
    const caller = { kind: 'account', accountId: 1, scopes: [] };
    await query(
      `insert into runtime.runs (id, deployment_id, state, request, request_hash, deadline, created_at)
       values ($1, $2, 'deciding', $3, '', now() - interval '1 hour', now() - interval '2 hours')`,
      [orphan, deployment.id, JSON.stringify({ ...asked, caller, asynchronous: false })],
    );
    await boot();
    await vi.waitFor(async () => expect((await look(orphan)).data).toMatchObject({ state: 'failed' }));
    const overdue = { status: 'failed', error: { code: 'deadline_exceeded' } };
    expect(await history()).toMatchObject([overdue, overdue]);
  });
});

it('a caller that leaves its run is told which one it is, and asks for its answer', async () => {
  await boot();
  const { params, judge } = await plantJudged();
  const { rpcs } = runtimeContract;
  const caller = { kind: 'account' as const, accountId: OWNER, scopes: ['execute' as const] };
  const call = { caller, requestId: 'leaves', callId: randomUUID(), deadline: Date.now() + 240_000 };
  const execute = (event: string) => {
    const request = { params, query: {}, headers: {}, body: { event, input: { id: 'a' } } };
    return house.bus.call(rpcs['deployments.execute'], request, { ...call, leavesRun: true });
  };
  expect((await execute('increment')).data).toMatchObject({ stateChanges: { 'counter:a': { count: 1 } } });
  const { data } = await execute('judge');
  expect(data).toEqual({ kind: 'accepted', executionId: expect.any(String), state: 'running' });
  const answer = house.bus.call(rpcs['executions.ofCall'], { params, callId: call.callId }, call);
  const asked = await decider.called();
  expect(asked.request.executionId).toBe((data as { executionId: string }).executionId);
  asked.answer(setTo('a', 3));
  expect(await answer).toMatchObject({ data: { stateChanges: { 'counter:a': { count: 3 } } } });
  // Others wait as before.
  const waits = judge('a');
  (await decider.calledBefore(waits)).answer(setTo('a', 4));
  expect((await waits).data).toMatchObject({ stateChanges: { 'counter:a': { count: 4 } } });
});

describe('an owner that dies', () => {
  it('between the answer and its commit leaves it to the next, which commits it once', async () => {
    let dying = false;
    let bury = () => {};
    const dead = new Promise<void>((resolve) => {
      bury = resolve;
    });
    const first = await boot({
      aroundCommit: (commit) => async (batch) => {
        if (dying && batch.entries.some(({ entry }) => entry.event === 'judge')) await dead;
        return commit(batch);
      },
    });
    const { judge, counter, verify, history } = await plantJudged();
    const answer = judge('a');
    const asked = await decider.called();
    dying = true;
    asked.answer(setTo('a', 4));
    const rows = () =>
      query<{ state: string }>('select state from runtime.runs where id = $1', [asked.request.executionId]);
    await vi.waitFor(async () => expect(await rows()).toEqual([{ state: 'decided' }]));
    const before = decider.calls();
    // A dead process takes no partition again.
    void first.leases.stop();
    await query('delete from runtime.members where instance = $1', [first.instance]);
    await query('update runtime.partitions set owner = null, expires_at = null');
    await boot();
    await vi.waitFor(async () => expect(await rows()).toEqual([{ state: 'succeeded' }]));
    bury();
    expect((await answer).data).toMatchObject({ stateChanges: { 'counter:a': { count: 4 } } });
    expect(decider.calls()).toBe(before);
    expect(await counter('a')).toMatchObject({ state: { count: 4 }, revision: 1 });
    expect(await history()).toHaveLength(1);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('while a run holds leaves the holds to the next, which serves under them', async () => {
    const first = await boot();
    const { judge, increment, counter } = await plantJudged();
    // Its process ends before it is answered, and may do so while this waits for something else.
    const answer = judge('a').catch(() => undefined);
    const question = await decider.called();
    await increment('a');
    question.answer({});
    await decider.called();
    await first[Symbol.asyncDispose]();
    running.length = 0;
    await answer;
    await boot();
    expect((await refusedInVain((patience) => increment('a', patience))).code).toBe('write_conflict');
    const again = await decider.called();
    expect(again.request.executionId).toBe(question.request.executionId);
    const waiting = increment('a');
    again.answer(setTo('a', 50));
    await waiting;
    expect(await counter('a')).toMatchObject({ state: { count: 51 } });
  });
});

describe('an Idempotency-Key', () => {
  it('is claimed while the run is under way, and answers for ever after', async () => {
    await boot();
    const { judge, history } = await plantJudged();
    const key = { 'idempotency-key': 'k1' };
    const answer = judge('a', undefined, key);
    const asked = await decider.called();
    const inFlight = await refusalOf(judge('a', undefined, key));
    expect(inFlight.code).toBe('request_in_flight');
    expect(await codeOf(judge('b', undefined, key))).toBe('idempotency_key_reused');
    const { data: accepted } = await judge('a', undefined, { ...key, prefer: 'respond-async' });
    expect(accepted).toEqual({ kind: 'accepted', ...inFlight.facts, state: 'running' });
    asked.answer(setTo('a', 1));
    const { data } = await answer;
    expect((await judge('a', undefined, key)).data).toEqual(data);
    expect(await history()).toHaveLength(1);
  });

  it.each([
    ['internal', new Error('a mistake of the service')],
    ['ai_model_unavailable', new ServiceError('ai_model_unavailable')],
  ])('is free again after %s: nothing was decided', async (code, failure) => {
    await boot();
    const { judge, history } = await plantJudged();
    const key = { 'idempotency-key': 'k3' };
    const failing = codeOf(judge('a', undefined, key));
    (await decider.called()).fail(failure);
    expect(await failing).toBe(code);
    const again = judge('a', undefined, key);
    (await decider.called()).answer(setTo('a', 1));
    expect((await again).data).toMatchObject({ seq: 3 });
    expect((await judge('a', undefined, key)).data).toMatchObject({ seq: 3 });
    expect(await history()).toHaveLength(2);
  });

  it('keeps what was decided, also that a model gives no valid proposal', async () => {
    await boot();
    const { judge, history } = await plantJudged();
    const key = { 'idempotency-key': 'k4' };
    const failing = codeOf(judge('a', undefined, key));
    (await decider.called()).fail(new ServiceError('ai_output_invalid'));
    expect([await failing, await codeOf(judge('a', undefined, key))]).toEqual([
      'ai_output_invalid',
      'ai_output_invalid',
    ]);
    expect(await history()).toHaveLength(1);
  });
});

describe('Prefer: respond-async', () => {
  const prefer = { prefer: 'wait=5, respond-async' };

  it('answers where to look, and the execution goes on', async () => {
    await boot();
    const { execute, look, counter, params } = await plantJudged();
    const key = { ...prefer, 'idempotency-key': 'k2' };
    const { data: accepted } = await execute({ id: 'a' }, { headers: key });
    expect(accepted).toEqual({ kind: 'accepted', executionId: expect.any(String), state: 'running' });
    expect((await execute({ id: 'a' }, { headers: key })).data).toEqual(accepted);
    const { executionId } = accepted as { executionId: string };
    await vi.waitFor(async () =>
      expect((await look(executionId)).data).toMatchObject({
        executionId,
        state: 'succeeded',
        answer: { event: 'increment', stateChanges: { 'counter:a': { count: 1 } } },
      }),
    );
    expect((await execute({ id: 'a' }, { headers: key })).data).toEqual(accepted);
    expect(await counter('a')).toMatchObject({ state: { count: 1 } });
    const other = await plantJudged();
    expect(await codeOf(other.look(executionId))).toBe('execution_not_found');
    const nonsense = house.call('executions.get', { params: { ...params, executionId: 'x' } });
    expect(await codeOf(nonsense)).toBe('execution_not_found');
  });

  it('tells of failures and refusals in the same place, and of what cannot run at once', async () => {
    await boot();
    const { execute, look, history, params } = await plantJudged();
    const { data } = await execute({ id: 5 }, { headers: prefer });
    const { executionId } = data as { executionId: string };
    await vi.waitFor(async () =>
      expect((await look(executionId)).data).toMatchObject({
        state: 'failed',
        error: { code: 'invalid_input', detail: expect.stringMatching(/^\/input\/id: /) },
      }),
    );
    expect(await history()).toEqual([]);
    expect(await codeOf(execute({}, { headers: prefer }, 'nothing'))).toBe('event_not_bound');
    expect(
      await refusalOf(execute({ id: 'a' }, { headers: prefer, query: { dryRun: 'true' } })),
    ).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '#header/prefer' }],
    });
    await house.call('deployments.pause', { params });
    expect(await codeOf(execute({ id: 'a' }, { headers: prefer }))).toBe('deployment_paused');
  });

  it('begins no run for a model that is not offered', async () => {
    await boot({ models: [] });
    const { execute, deployment } = await plantJudged();
    expect(await codeOf(execute({ id: 'a' }, { headers: prefer }, 'judge'))).toBe('ai_model_unavailable');
    expect(await query('select from runtime.runs where deployment_id = $1', [deployment.id])).toEqual([]);
    expect((await execute({ id: 'a' }, { headers: prefer })).data).toMatchObject({ state: 'running' });
  });

  it('is accepted while the catalog is away: the run waits for it', async () => {
    await boot();
    const { execute, look } = await plantJudged();
    const { handlers } = house.catalog;
    const confirm = handlers['definitions.confirm'];
    handlers['definitions.confirm'] = () => Promise.reject(new ServiceError('unavailable'));
    const { data } = await execute({ id: 'a' }, { headers: prefer });
    expect(data).toMatchObject({ state: 'running' });
    handlers['definitions.confirm'] = confirm;
    const { executionId } = data as { executionId: string };
    await vi.waitFor(async () =>
      expect((await look(executionId)).data).toMatchObject({ state: 'succeeded' }),
    );
  });
});
