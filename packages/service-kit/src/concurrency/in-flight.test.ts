import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createInFlightCounter, NamedSlots, Slots } from './bounded-work.js';

it('resolves once nothing of the keys is in flight, whatever other keys do', async () => {
  const inFlight = createInFlightCounter();
  await inFlight.untilNone([1, 2]);
  inFlight.begin(1);
  inFlight.begin(1);
  inFlight.begin(3);
  let isNone = false;
  const none = inFlight.untilNone([1, 2]).then(() => {
    isNone = true;
  });
  inFlight.end(1);
  await new Promise(setImmediate);
  expect(isNone).toBe(false);
  inFlight.end(1);
  await none;
});

describe('slots', () => {
  it('hold a value under its number until it is taken', () => {
    const slots = new Slots<string>();
    const [a, b] = [slots.add('a'), slots.add('b')];
    expect([slots.get(a), slots.get(b), slots.entries()]).toEqual([
      'a',
      'b',
      [
        [a, 'a'],
        [b, 'b'],
      ],
    ]);
    expect([slots.take(a), slots.take(a), slots.get(a)]).toEqual(['a', undefined, undefined]);
    expect(slots.entries()).toEqual([[b, 'b']]);
  });

  it('never give a number twice, though a slot is used again', () => {
    const slots = new Slots<number>();
    const numbers = Array.from({ length: 1000 }, (_, value) => {
      const number = slots.add(value);
      slots.take(number);
      return number;
    });
    expect(new Set(numbers).size).toBe(1000);
    const last = slots.add(1000);
    expect(numbers.map((number) => slots.take(number))).toEqual(numbers.map(() => undefined));
    expect(slots.take(last)).toBe(1000);
  });
});

it('named slots find a value by its name, and tell the names in the order in which they came', () => {
  const slots = new NamedSlots<string, number>();
  for (const [value, name] of ['a', 'b', 'c'].entries()) slots.set(name, value);
  slots.set('a', 3);
  expect([slots.get('a'), slots.take('b'), slots.take('b'), slots.get('b')]).toEqual([
    3,
    1,
    undefined,
    undefined,
  ]);
  expect([slots.size, [...slots.names()], slots.values().sort()]).toEqual([2, ['c', 'a'], [2, 3]]);
});

type Enter = (value: object) => () => unknown;

const HOLDERS: readonly [string, () => Enter][] = [
  [
    'slots',
    () => {
      const slots = new Slots<object>();
      return (value) => {
        const number = slots.add(value);
        return () => slots.take(number);
      };
    },
  ],
  [
    'named slots',
    () => {
      const slots = new NamedSlots<string, object>();
      let names = 0;
      return (value) => {
        names += 1;
        const name = String(names);
        slots.set(name, value);
        return () => slots.take(name);
      };
    },
  ],
];

it.each(HOLDERS)('%s keep nothing alive that has left, also without a full garbage collection', (_, open) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
  const enter = open();
  const leaves: (() => unknown)[] = [];
  const pass = (count: number) => {
    for (let n = 0; n < count; n += 1) {
      leaves.push(enter({ text: Array.from({ length: 50 }, () => 'x') }));
      if (leaves.length > 32) leaves.shift()?.();
      if (n % 500 === 0) collect({ type: 'minor' });
    }
  };
  pass(5000);
  collect();
  const before = process.memoryUsage().heapUsed;
  pass(50_000);
  collect({ type: 'minor' });
  // All together they are 25 MB. With a `Map` or a `Set` it is 10 MB and more on Node.js 20; of names and tables, 4 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(6 * 1024 * 1024);
});
