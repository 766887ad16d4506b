import { canonicalHash, type HistoryEntry, type JsonValue } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { createDeciderDouble } from './decider-double.js';
import { modelNamed } from './model-double.js';
import { plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const decider = createDeciderDouble();
const boot = () => house.boot({ decider: decider.decider, models: [modelNamed('double', true)] });

const SEEN = '{{ history.map(h, h.seq) }}';
const remembering = (event: string, versionId: number, readHistory: object, more: object = {}) =>
  house.catalog.plantVersion({
    event,
    versionId,
    inputSchema: { id: 'string' },
    readEntities: [{ schema: 'counter', filter: ['id'] }],
    readHistory: readHistory as never,
    stateChanges: { counter: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: {
        stateChanges: { 'counter:{{input.id}}': { count: { $increment: 1 } } },
        result: { seen: SEEN },
      },
    },
    ...more,
  });
remembering('all', 501, { last: 3 });
remembering('own', 502, { last: 50, instances: 'read' });
remembering('named', 503, { last: 2, events: ['increment'] });
remembering('judge', 504, { last: 3 }, { mutationSettings: null, behaviorPrompt: 'Judge.' });
remembering(
  'fails',
  505,
  { last: 3 },
  {
    mutationSettings: { mode: 'direct', template: { result: { x: '{{ history[0].nothing }}' } } },
  },
);
remembering(
  'judge and go on',
  506,
  { last: 3 },
  {
    mutationSettings: null,
    behaviorPrompt: 'Judge.',
    followUps: [{ event: 'increment', after: 'PT1H', key: '{{ history[0].seq }}' }],
  },
);
const EVENTS = ['increment', 'all', 'own', 'named', 'judge', 'fails', 'judge and go on'];
let runtime = await boot();

async function plant() {
  const planted = await plantDeployment(house, {
    bindings: EVENTS.map((event) => ({ event, eventVersion: 1 })),
  });
  await planted.createCounter('a');
  await planted.createCounter('b');
  const seen = async (event: string, id: string) => {
    const { data } = await planted.execute({ id }, {}, event);
    return (data as unknown as { result: { seen: number[] } }).result.seen;
  };
  /** The entry with this seq, as the history shows it. */
  const entry = async (seq: number) => {
    const found = (await planted.history({ limit: '100' })).find((one) => one.seq === seq);
    if (found === undefined) throw new Error(`no entry ${seq}`);
    return found;
  };
  return { ...planted, seen, entry };
}

it('an execution remembers exactly the journal before it, also what is decided in the same batch', async () => {
  const { execute, seen, entry, verify, params } = await plant();
  expect(await seen('all', 'a')).toEqual([]);
  // One of another event, seq 5, and then many at once: they share commits.
  await execute({ id: 'b' });
  const many = await Promise.all(Array.from({ length: 20 }, () => seen('all', 'a')));
  const expected = Array.from({ length: 20 }, (_, at) =>
    [5 + at - 2, 5 + at - 1, 5 + at].filter((seq) => seq > 3),
  );
  expect(many.toSorted((x, y) => (x.at(-1) ?? 0) - (y.at(-1) ?? 0))).toEqual(expected);
  const { input, readHistoryHash } = await entry(25);
  expect(input).toEqual({ id: 'a' });
  const memories = await Promise.all([22, 23, 24].map(async (seq) => memoryOf(await entry(seq))));
  expect(readHistoryHash).toBe(canonicalHash(memories));
  expect((await entry(5)).readHistoryHash).toBeUndefined();
  expect(await verify()).toMatchObject({ valid: true });
  // Decided again from the journal alone, each remembers the same.
  const again = await house.call('history.verify', { params, query: { decisions: 'true' } });
  expect(again.data).toMatchObject({ valid: true, decisions: { rerun: 22, notRerun: {} } });
});

/** What a later execution sees of an entry, by docs/templates.md. */
function memoryOf({ seq, event, status, trigger, caller, input, result, ...entry }: HistoryEntry): JsonValue {
  const { executedAt: at, stateChanges: changes, error } = entry;
  const memory = { seq, at, event, status, trigger, caller, input, changes, result };
  return { ...memory, error: error?.code ?? null } as JsonValue;
}

it('remembers what was done to what it reads, or what events did, also after another start', async () => {
  const { execute, seen } = await plant();
  await execute({ id: 'a' });
  await execute({ id: 'b' });
  await seen('all', 'b');
  expect(await seen('own', 'a')).toEqual([4]);
  expect(await seen('own', 'b')).toEqual([5, 6]);
  expect(await seen('named', 'b')).toEqual([4, 5]);
  await runtime[Symbol.asyncDispose]();
  runtime = await boot();
  expect(await seen('own', 'a')).toEqual([4, 7]);
  expect(await seen('named', 'a')).toEqual([4, 5]);
  await execute({ id: 'a' });
  expect(await seen('named', 'a')).toEqual([5, 12]);
});

it('records what was remembered also where the template then fails', async () => {
  const { execute, entry } = await plant();
  await execute({ id: 'a' });
  const { code } = await refusalOf(execute({ id: 'a' }, {}, 'fails'));
  expect(code).toBe('template_failed');
  expect((await entry(5)).readHistoryHash).toMatch(/^[0-9a-f]{64}$/);
});

it('shows a model what was there when it was asked; that the journal goes on makes its answer no staler', async () => {
  const { execute, entry } = await plant();
  await execute({ id: 'b' });
  const calls = decider.calls();
  const judged = execute({ id: 'a' }, {}, 'judge');
  const call = await decider.calledBefore(judged);
  expect(call.request.history?.entries.map(({ seq }) => seq)).toEqual([4]);
  await execute({ id: 'b' });
  call.answer({ 'counter:a': { count: 7 } });
  const { data } = await judged;
  expect(data).toMatchObject({ seq: 6, stateChanges: { 'counter:a': { count: 7 } } });
  expect(decider.calls()).toBe(calls + 1);
  expect((await entry(6)).readHistoryHash).toBe(call.request.history?.hash);
});

it('tells the follow-ups of a model’s event what the model was told', async () => {
  const { execute, entry } = await plant();
  await execute({ id: 'b' });
  const judge = (sent = {}) => execute({ id: 'a' }, sent, 'judge and go on');
  const tried = judge({ query: { dryRun: 'true' } });
  const tryingOut = await decider.calledBefore(tried);
  const mutation = { stateChanges: { 'counter:a': { count: 7 } } };
  expect(await tryingOut.request.check(mutation)).toBeUndefined();
  tryingOut.answer(mutation);
  expect((await tried).data).toMatchObject({ dryRun: true });
  const judged = judge();
  const call = await decider.calledBefore(judged);
  await execute({ id: 'b' });
  expect(await call.request.check(mutation)).toBeUndefined();
  call.answer(mutation);
  await judged;
  expect((await entry(6)).timers).toMatchObject([{ event: 'increment', key: '4' }]);
});

it('asks again with what has happened since, once an instance has changed that it read', async () => {
  const { execute, entry } = await plant();
  const judged = execute({ id: 'a' }, {}, 'judge');
  const first = await decider.calledBefore(judged);
  expect(first.request.history?.entries).toEqual([]);
  await execute({ id: 'a' });
  first.answer({ 'counter:a': { count: 7 } });
  const second = await decider.calledBefore(judged);
  expect(second.request.history?.entries.map(({ seq }) => seq)).toEqual([4]);
  second.answer({ 'counter:a': { count: 8 } });
  await judged;
  expect((await entry(5)).readHistoryHash).toBe(second.request.history?.hash);
});

it('shows a dry run the same, and a clone nothing: history is not copied', async () => {
  const { execute, deployment, params } = await plant();
  await execute({ id: 'a' });
  const tried = await execute({ id: 'a' }, { query: { dryRun: 'true' } }, 'all');
  expect(tried.data).toMatchObject({ dryRun: true, result: { seen: [4] } });
  const clone = await house.call('deployments.create', {
    params: { worldAddress: params.worldAddress },
    body: { name: 'Clone', bindings: [], sourceDeployment: deployment.address },
  });
  const { data } = await house.call('deployments.execute', {
    params: { ...params, address: clone.data.address },
    body: { event: 'all', input: { id: 'a' } },
  });
  expect(data).toMatchObject({ result: { seen: [] } });
});
