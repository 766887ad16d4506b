import { systemClock } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { incrementVersion } from './fake-catalog.js';
import { movableClock } from './movable-clock.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const database = await movableClock(house.databaseUrl);
const MINUTE = 60_000;

let jump = 0;
/** The wall clock of a process, which somebody sets while it runs. */
const clock = { ...systemClock, now: () => systemClock.now() + jump };

async function plant() {
  const planted = await plantDeployment(house);
  const later = async (id: string, after: string) => {
    const body = { event: incrementVersion.event, input: { id }, after };
    const { data } = await house.call('deployments.execute', { params: planted.params, body });
    return data as unknown as { timerId: string; dueAt: string; seq: number };
  };
  const cancel = (timerId: string) => house.call('timers.cancel', { params: { ...planted.params, timerId } });
  const entries = async () => (await planted.history({ include: 'all', limit: '100' })).reverse();
  /** The counters that timers have counted, in the order of the journal. */
  const executed = async () =>
    (await entries()).flatMap(({ trigger, input }) =>
      trigger === 'timer' ? [(input as { id: string }).id] : [],
    );
  const pending = async () => (await house.call('timers.list', { params: planted.params })).data;
  /** No timer was executed twice or before it was due, by what the journal says, and its times never run backwards. */
  const checkAll = async () => {
    const all = await entries();
    const consumed = all.flatMap(({ cause, executedAt }) => (cause ? [{ ...cause, executedAt }] : []));
    expect(new Set(consumed.map(({ seq, index }) => `${seq} ${index}`)).size).toBe(consumed.length);
    for (const { seq, index, executedAt } of consumed) {
      const due = all.find((one) => one.seq === seq)?.timers?.[index]?.dueAt ?? '';
      expect(executedAt >= due, `${executedAt} is before ${due}`).toBe(true);
    }
    const times = all.map(({ executedAt }) => executedAt);
    expect(times).toEqual(times.toSorted());
    expect(await planted.verify()).toMatchObject({ valid: true });
  };
  return { later, cancel, executed, pending, checkAll };
}

it('a clock of the database that is set back delays timers, and one that is set forward hastens them: each once', async () => {
  await using _runtime = await house.boot();
  const { later, cancel, executed, pending, checkAll } = await plant();
  // The clock is set back before it is due.
  const { dueAt } = await later('a', 'PT10S');
  await database.set(-10 * MINUTE);
  const afterDue = new Date(Date.parse(dueAt) + 1000).toISOString();
  await vi.waitFor(async () => expect(await database.isPast(afterDue)).toBe(true));
  await later('b', 'PT1M');
  expect(await executed()).toEqual([]);
  expect(await pending()).toHaveLength(2);
  await database.set(2 * MINUTE);
  await vi.waitFor(async () => expect(await executed()).toEqual(['a', 'b']));

  await later('c', 'PT30M');
  await later('d', 'PT3H');
  const { timerId } = await later('x', 'PT5H');
  await database.set(60 * MINUTE);
  // Has the owner look before it compares its clock with that of the database by itself.
  await cancel(timerId);
  await vi.waitFor(async () => expect(await executed()).toEqual(['a', 'b', 'c']));
  await later('e', 'PT1S');
  await vi.waitFor(async () => expect(await executed()).toEqual(['a', 'b', 'c', 'e']));
  // What was executed stays so.
  await database.set(0);
  await later('f', 'PT1M');
  expect((await pending()).map(({ input }) => input)).toEqual([{ id: 'f' }, { id: 'd' }]);
  await database.set(61 * MINUTE);
  await vi.waitFor(async () => expect(await executed()).toEqual(['a', 'b', 'c', 'e', 'f']));
  await checkAll();
  await database.set(0);
});

it('a clock of the process that jumps neither hastens nor delays a timer', async () => {
  await using _runtime = await house.boot({ clock });
  const { later, executed, pending, checkAll } = await plant();
  await later('far', 'PT30M');
  for (const [name, ms] of [
    ['forward', 60 * MINUTE],
    ['back', -60 * MINUTE],
    ['again', 5 * MINUTE],
  ] as const) {
    await later(name, 'PT1S');
    jump = ms;
    await vi.waitFor(async () => expect(await executed()).toContain(name));
    await later(`then ${name}`, 'PT1S');
    await vi.waitFor(async () => expect(await executed()).toContain(`then ${name}`));
  }
  expect((await pending()).map(({ input }) => input)).toEqual([{ id: 'far' }]);
  expect(await executed()).toHaveLength(6);
  await checkAll();
});
