import { type JsonObject, ServiceError } from '@orrery/contracts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DeciderFailed } from '../src/core/prompting/model.js';
import type { CommitBatch } from '../src/store/commit/commit-statement.js';
import { createDeciderDouble } from './decider-double.js';
import { codeOf, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
house.catalog.plantVersion({
  event: 'look_up',
  versionId: 90,
  inputSchema: null,
  readEntities: [],
  stateChanges: { counter: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: { stateChanges: {}, result: { found: '{{ input.map[input.key] }}' } },
  },
});
house.catalog.plantVersion({
  event: 'judge',
  versionId: 80,
  behaviorPrompt: 'Judge.',
  inputSchema: { id: 'string' },
  stateChanges: { counter: 'partial' },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
});
const bindings = ['increment', 'look_up', 'judge'].map((event) => ({ event, eventVersion: 1 }));

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

/** A runtime whose commits fail as long as `refuse` throws for them. */
async function boot() {
  const decider = createDeciderDouble();
  const commits = { refuse: undefined as CommitBatch | undefined, refused: 0 };
  const aroundCommit = (commit: CommitBatch) =>
    (async (batch) => {
      try {
        await commits.refuse?.(batch);
      } catch (error) {
        commits.refused += 1;
        throw error;
      }
      return commit(batch);
    }) satisfies CommitBatch;
  running.push(await house.boot({ decider: decider.decider, aroundCommit }));
  const planted = await plantDeployment(house, { bindings });
  const execute = (event: string, input: object, headers: Record<string, string> = {}) =>
    house.call('deployments.execute', { params: planted.params, body: { event, input }, headers });
  const look = async (executionId: string) =>
    (await house.call('executions.get', { params: { ...planted.params, executionId } })).data;
  return { ...planted, decider, commits, execute, look };
}

const refusedByPostgres = () =>
  Object.assign(new Error('unsupported Unicode escape sequence'), { code: '22P05' });
const databaseAway = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
const databaseSlow = () => Object.assign(new Error('canceling statement'), { code: '57014' });

describe('a reason that quotes a text', () => {
  /** The reason quotes its first 80 UTF-16 units: the last of them is half of a character. */
  const input = { map: {}, key: `${'a'.repeat(79)}\u{1f600}bbb` };
  it.each([[{}], [{ 'idempotency-key': 'quoted' }], [{ prefer: 'respond-async' }]])(
    'is answered and journalled with the headers %j',
    async (headers) => {
      const { execute, look, history } = await boot();
      const execution = execute('look_up', input, headers);
      if ('prefer' in headers) {
        const { executionId } = (await execution).data as { executionId: string };
        await expect.poll(async () => (await look(executionId)).state).toBe('failed');
      } else expect(await refusalOf(execution)).toMatchObject({ code: 'template_failed' });
      expect(await history()).toMatchObject([{ status: 'failed', error: { code: 'template_failed' } }]);
    },
  );
});

describe('an answer of the decider', () => {
  const nested = (levels: number): JsonObject => (levels === 0 ? {} : { a: nested(levels - 1) });
  it.each<[string, JsonObject]>([
    ['U+0000', { 'counter:a': { label: 'a\u0000' } }],
    ['a lone surrogate', { 'counter:a': { label: 'a\ud83d' } }],
    ['a polluting key', JSON.parse('{"counter:a": {"__proto__": {"count": 1}}}')],
    ['an endless number', JSON.parse('{"counter:a": {"count": 1e400}}')],
    ['endless nesting', nested(5000)],
    ['no object', [] as never],
  ])('with %s fails the execution, and the decider is called once', async (_what, mutation) => {
    const { execute, history, decider } = await boot();
    const answer = execute('judge', { id: 'a' });
    (await decider.called()).answer(mutation, { llm: { cost: 3, text: 'a\u0000' } });
    expect(await codeOf(answer)).toBe('ai_output_invalid');
    expect(decider.calls()).toBe(1);
    const llm = { cost: 3, text: 'a\ufffd' };
    expect(await history()).toMatchObject([{ error: { code: 'ai_output_invalid' }, llm }]);
  });

  it('has its evidence made storable', async () => {
    const { execute, history, decider } = await boot();
    const answer = execute('judge', { id: 'a' });
    const evidence = { llm: { text: 'x\ud83d' }, attestation: { by: 'y\u0000' } };
    (await decider.called()).answer({ 'counter:a': { count: 1 } }, evidence);
    expect((await answer).data).toMatchObject({ attestation: { by: 'y\ufffd' } });
    expect(await history()).toMatchObject([{ status: 'succeeded', llm: { text: 'x\ufffd' } }]);
    expect(decider.calls()).toBe(1);
  });

  it('may be an error that quotes what PostgreSQL refuses', async () => {
    const { execute, history, decider } = await boot();
    const answer = execute('judge', { id: 'a' }, { 'idempotency-key': 'thrown' });
    const error = new ServiceError('ai_output_invalid', 'It said: x\ud83d', { facts: { said: '\u0000' } });
    (await decider.called()).fail(new DeciderFailed(error, { llm: { cost: 2 } }));
    expect(await refusalOf(answer)).toMatchObject({ message: 'It said: x\ufffd', facts: { said: '\ufffd' } });
    expect(await history()).toMatchObject([
      { status: 'failed', error: { detail: 'It said: x\ufffd' }, llm: { cost: 2 } },
    ]);
    expect(decider.calls()).toBe(1);
  });

  it.each([
    ['away', databaseAway],
    ['too slow', databaseSlow],
  ])('is kept while the database is %s, and not called for again', async (_, failure) => {
    const { execute, commits, decider } = await boot();
    const answer = execute('judge', { id: 'a' });
    const call = await decider.called();
    commits.refuse = () => Promise.reject(failure());
    call.answer({ 'counter:a': { count: 1 } });
    // More often than what cannot be stored is tried.
    await vi.waitFor(() => expect(commits.refused).toBeGreaterThan(3));
    commits.refuse = undefined;
    expect((await answer).data).toMatchObject({ stateChanges: { 'counter:a': { count: 1 } } });
    expect(decider.calls()).toBe(1);
  });
});

describe('a run whose outcome cannot be stored', () => {
  const refuseEntries: CommitBatch = (batch) =>
    batch.entries.some(({ entry }) => entry.status === 'succeeded')
      ? Promise.reject(refusedByPostgres())
      : Promise.resolve({ kind: 'committed' });

  it.each([
    ['judge', 1],
    ['increment', 0],
  ])('ends %s with a plain reason after a few tries', async (event, calls) => {
    const { execute, look, history, commits, decider, counter } = await boot();
    const { data } = await execute(event, { id: 'a' }, { prefer: 'respond-async' });
    const { executionId } = data as { executionId: string };
    commits.refuse = refuseEntries;
    if (calls > 0) (await decider.called()).answer({ 'counter:a': { count: 1 } });
    const error = { code: 'internal', detail: 'The outcome could not be stored.' };
    await vi.waitFor(async () => expect(await look(executionId)).toMatchObject({ state: 'failed', error }));
    expect(commits.refused).toBeLessThanOrEqual(6);
    expect(decider.calls()).toBe(calls);
    expect(await history()).toMatchObject([{ status: 'failed', error }]);
    expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
  });

  it('ends without an entry when that cannot be stored either', async () => {
    const { execute, look, history, commits } = await boot();
    commits.refuse = (batch) =>
      batch.entries.length > 0 ? Promise.reject(refusedByPostgres()) : Promise.resolve({ kind: 'committed' });
    const { data } = await execute('increment', { id: 'a' }, { prefer: 'respond-async' });
    const { executionId } = data as { executionId: string };
    const error = { code: 'internal', detail: 'The outcome could not be stored.' };
    await vi.waitFor(async () => expect(await look(executionId)).toMatchObject({ state: 'failed', error }));
    expect(await history()).toEqual([]);
  });
});
