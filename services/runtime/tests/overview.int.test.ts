import type { Clock } from '@orrery/service-kit';
import { systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { describe, expect, it, test } from 'vitest';
import { countedTo, createActivity, readActivity } from '../src/store/journal/activity.js';
import { openRuntimeDatabase, plantDeployment as plantJournal } from './journal-fixture.js';
import { plantMany } from './plant-many.js';
import { OTHER, plantDeployment, prepareHouse } from './running-runtime.js';

const db = await openRuntimeDatabase();
const house = await prepareHouse();
await house.boot();
const { signal } = new AbortController();

const NOW = Date.parse('2026-11-26T12:10:30Z');
const at = (now: number): Clock => ({ ...systemClock, now: () => now });
const count = createActivity(db, at(NOW));
const ago = (seconds: number) => ({ decidedAt: new Date(NOW - seconds * 1000).toISOString() });
const HOUR = { step: 60, from: NOW / 1000 - 3630 };
const DAY = { step: 1800, from: NOW / 1000 - 86_400 };
const MONTH = { step: 86_400, from: NOW / 1000 - 30 * 86_400 };

const took = (id: number, seq: number, ms: number | null) =>
  db
    .updateTable('journal')
    .set({ duration_ms: ms })
    .where('deployment_id', '=', id)
    .where('seq', '=', seq)
    .execute();

describe('executions are counted', () => {
  it('by step, event, failure and latency, with what models cost, each once', async () => {
    const race = await plantJournal(db);
    const failed = { status: 'failed' as const, error: { code: 'template_failed', detail: 'No.' } as never };
    await race.add(ago(40 * 86_400));
    await race.add({ ...ago(9 * 86_400), event: 'report', llm: { usage: { usd: 0.5 } } });
    await race.add({ ...ago(7200), ...failed });
    await race.add({ ...ago(60), kind: 'paused', event: null, trigger: null, status: null });
    for (const ms of [10, 10, 1000]) await took(race.id, await race.add(ago(50)), ms);
    const llm = { usage: { usd: 0.25 }, earlier: [{ usage: { usd: 0.125 } }, { usage: { usd: null } }] };
    const head = await race.add({ ...ago(20), event: 'report', llm });
    await count(race.id, head, signal);
    await count(race.id, head, signal);
    expect(await countedTo(db, race.id)).toBe(head);

    const hour = await readActivity(db, race.id, HOUR);
    expect(hour.steps).toEqual([
      { at: Date.parse('2026-11-26T12:09:00Z') / 1000, succeeded: 3, failed: 0 },
      { at: Date.parse('2026-11-26T12:10:00Z') / 1000, succeeded: 1, failed: 0 },
    ]);
    expect(hour.events).toMatchObject([
      { event: 'race', succeeded: 3, failed: 0, usd: null },
      { event: 'report', succeeded: 1, failed: 0, usd: 0.375 },
    ]);
    const [{ medianMs = 0, p95Ms = 0 } = {}] = hour.events as { medianMs?: number; p95Ms?: number }[];
    expect(medianMs / 10).toBeCloseTo(1, 0);
    expect(Math.abs(p95Ms - 1000)).toBeLessThan(100);
    expect((await readActivity(db, race.id, DAY)).failures).toEqual([
      { code: 'template_failed', count: 1, events: ['race'] },
    ]);
    const month = await readActivity(db, race.id, MONTH);
    expect(month.steps.map(({ succeeded, failed: wrong }) => [succeeded, wrong])).toEqual([
      [1, 0],
      [4, 1],
    ]);
    expect(month.events.find(({ event }) => event === 'report')).toMatchObject({ usd: 0.875 });
  });

  it('where none has a latency, without one', async () => {
    const race = await plantJournal(db);
    const seq = await race.add(ago(1));
    await took(race.id, seq, null);
    await count(race.id, seq, signal);
    expect((await readActivity(db, race.id, HOUR)).events).toMatchObject([{ medianMs: null, p95Ms: null }]);
  });

  it('by several at once as by one', async () => {
    const race = await plantJournal(db);
    let head = 0;
    for (let n = 0; n < 30; n += 1) head = await race.add(ago(5));
    const other = createActivity(db, at(NOW));
    await Promise.all([count, other, count, other].map((one) => one(race.id, head, signal)));
    expect((await readActivity(db, race.id, HOUR)).steps).toMatchObject([{ succeeded: 30 }]);
  });

  it('without what no overview shows any more: such rows go, and old entries are not read', async () => {
    const race = await plantJournal(db);
    await race.add(ago(60));
    await count(race.id, 1, signal);
    const later = createActivity(db, at(NOW + 40 * 86_400_000));
    const head = await race.add({ decidedAt: new Date(NOW + 40 * 86_400_000).toISOString() });
    await later(race.id, head, signal);
    const { rows } = await sql<{ step: number; executions: number }>`
      select step, executions from activity where deployment_id = ${race.id} order by step`.execute(db);
    expect(rows.map(({ step, executions }) => [step, Number(executions)])).toEqual([
      [60, 1],
      [1800, 1],
      [86_400, 1],
    ]);

    // 12,000 entries, of which the last 10 are new enough: the first transaction begins behind the others.
    const long = await plantJournal(db);
    await plantMany(
      db,
      long.id,
      12_000,
      (n) => sql`to_timestamp(${NOW / 1000 - 1}::float8)
      - case when ${n} > 11990 then interval '0' else interval '50 days' end`,
    );
    const asked: number[] = [];
    const clock = { ...at(NOW), monotonic: () => asked.push(0) * 600 };
    await createActivity(db, clock)(long.id, 12_000, signal);
    expect(asked.length).toBeLessThan(4);
    expect(await countedTo(db, long.id)).toBe(12_000);
    expect((await readActivity(db, long.id, MONTH)).steps).toMatchObject([{ succeeded: 9, failed: 1 }]);
  });
});

test('an overview tells everyone who may read the deployment how it goes, and its owner what waits', async () => {
  const template = { result: '{{ fail("Never.") }}' };
  house.catalog.plantVersion({
    event: 'stumble',
    versionId: 70,
    mutationSettings: { mode: 'direct', template },
  });
  const bindings = ['increment', 'stumble'].map((event) => ({ event, eventVersion: 1 }));
  const { params, execute, createCounter } = await plantDeployment(house, { bindings });
  await createCounter('A');
  await execute({ id: 'A' });
  await execute({}, {}, 'stumble').catch(() => undefined);
  await house.call('deployments.execute', {
    params,
    body: { event: 'increment', input: { id: 'A' }, after: 'PT1H' },
  });
  const overview = async (query: object = {}, caller = {}) =>
    (await house.call('deployments.overview', { params, query: { ...query } }, caller)).data;
  const day = await overview();
  expect(day).toMatchObject({
    of: 'day',
    stepSeconds: 1800,
    isBehind: false,
    payments: [],
    modelsUsdToday: 0,
  });
  expect(day.steps).toHaveLength(48);
  // A step, or a day, may have begun meanwhile.
  const latest = (of: 'succeeded' | 'failed', steps = day.steps) =>
    steps.slice(-2).reduce((sum, step) => sum + step[of], 0);
  expect([latest('succeeded'), latest('failed')]).toEqual([1, 1]);
  expect(day.events).toMatchObject([
    { event: 'increment', succeeded: 1, failed: 0 },
    { event: 'stumble', succeeded: 0, failed: 1 },
  ]);
  expect(day.failures).toEqual([{ code: 'template_failed', count: 1, events: ['stumble'] }]);
  expect(day.latestFailure).toMatchObject({ event: 'stumble', code: 'template_failed' });
  expect(day.timers).toMatchObject({ pending: 1, overdue: 0 });
  expect(Date.parse(day.timers?.nextDueAt ?? '')).toBeGreaterThan(Date.now());
  const today = () => `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;
  const before = today();
  const month = await overview({ of: 'month' });
  expect([before, today()]).toContain(month.steps.at(-1)?.at);
  expect(latest('succeeded', month.steps)).toBe(1);

  await house.call('deployments.publish', { params });
  await execute({ id: 'A' });
  const theirs = await overview({ of: 'hour' }, { accountId: OTHER });
  expect(theirs).toMatchObject({ timers: null, payments: null, modelsUsdToday: null, isBehind: false });
  expect(theirs.steps.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(2);
});
