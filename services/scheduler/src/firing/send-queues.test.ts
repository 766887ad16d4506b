import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import { createSendQueues, type SendSlot, type Taken } from './send-queues.js';

const NEVER = new AbortController().signal;
const taken = (id: number) => ({ occurrence: { id } }) as Taken;

/** Queues with four slots, and one for what is sent again; `sent` in the order in which slots were given. */
function queuesOfFour(perSecond = Number.POSITIVE_INFINITY) {
  const clock = new FakeClock();
  const sent: number[] = [];
  const slots = new Map<number, SendSlot>();
  const queues = createSendQueues(
    { concurrency: 4, perSecond, clock, signal: NEVER },
    ({ occurrence: { id } }, slot) => {
      sent.push(id);
      slots.set(id, slot);
    },
  );
  const add = (name: Parameters<typeof queues.add>[0], ...ids: number[]) => queues.add(name, ids.map(taken));
  return { clock, queues, add, sent, slot: (id: number) => slots.get(id) as SendSlot };
}

it('each queue has slots of its own, which are taken in order', () => {
  const { add, sent, slot } = queuesOfFour();
  add('again', 1, 2);
  add('fresh', 11, 12, 13, 14, 15);
  add('manual', 21);
  expect(sent).toEqual([1, 11, 12, 13, 14, 21]);
  slot(12).release();
  slot(12).release();
  slot(1).release();
  expect(sent.slice(6)).toEqual([2]);
  slot(14).release();
  expect(sent.slice(7)).toEqual([15]);
});

it('many are sent at once: when half of the slots are free', () => {
  const { add, sent, slot } = queuesOfFour();
  add('fresh', 11, 12, 13, 14, 15, 16, 17);
  slot(11).release();
  expect(sent).toHaveLength(4);
  slot(13).release();
  expect(sent.slice(4)).toEqual([15, 16]);
});

it('what is slow goes to the slots of what is sent again, or gives up its slot', () => {
  const { add, sent, slot } = queuesOfFour();
  add('fresh', 11, 12, 13, 14, 15, 16);
  expect([slot(11).yieldToWaiting(), slot(12).yieldToWaiting()]).toEqual([true, false]);
  expect(sent.slice(4)).toEqual([15, 16]);
  // Nobody waits any more.
  expect([slot(11).yieldToWaiting(), slot(13).yieldToWaiting()]).toEqual([true, true]);
  add('again', 1);
  expect(slot(11).demote()).toBe(true);
  expect(sent).not.toContain(1);
  expect(slot(11).yieldToWaiting()).toBe(false);
  expect(sent).toContain(1);
  add('manual', 21);
  expect(slot(21).demote()).toBe(true);
});

it('there is room for many or for none', () => {
  const { queues, add, slot } = queuesOfFour();
  expect([queues.room('fresh'), queues.room('again')]).toEqual([16, 4]);
  add('fresh', ...Array.from({ length: 20 }, (_, index) => index));
  expect(queues.room('fresh')).toBe(0);
  slot(0).release();
  expect(queues.room('fresh')).toBe(0);
  for (const id of [1, 2, 3, 4, 5, 6, 7]) slot(id).release();
  expect(queues.room('fresh')).toBe(8);
  expect(queues.clear().map(({ occurrence: { id } }) => id)).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
});

it('only so many are sent in a second for the first time, a few at once', async () => {
  const { clock, add, sent, slot } = queuesOfFour(50);
  add('fresh', 11, 12, 13, 14, 15, 16, 17);
  expect(sent).toEqual([11, 12]);
  for (const id of [11, 12]) slot(id).release();
  add('again', 1);
  expect(sent).toEqual([11, 12, 1]);
  await clock.advance(39);
  expect(sent).toHaveLength(3);
  await clock.advance(1);
  expect(sent.slice(3)).toEqual([13, 14]);
  // Two slots are free: what is slow need not go while others wait for the rate alone.
  expect(slot(13).yieldToWaiting()).toBe(true);
  await clock.advance(40);
  expect(sent.slice(5)).toEqual([15, 16]);
  await clock.advance(40);
  expect(sent).toHaveLength(7);
  for (const id of [13, 14]) slot(id).release();
  expect(sent.slice(7)).toEqual([17]);
});

it('a burst that is late does not make those after it late', async () => {
  const { clock, add, sent, slot } = queuesOfFour(25);
  add('fresh', 11, 12, 13);
  expect(sent).toEqual([11]);
  // A timer that was set for 40 ms fires after 55 ms.
  await clock.leap(55);
  expect(sent).toEqual([11, 12]);
  slot(11).release();
  await clock.advance(24);
  expect(sent).toHaveLength(2);
  await clock.advance(1);
  expect(sent).toEqual([11, 12, 13]);
});

it('no more are claimed than the rate sends within half a second', () => {
  const { queues } = queuesOfFour(5);
  expect(queues.room('fresh')).toBe(3);
});
