import type { JsonObject } from '@orrery/contracts';
import { expect, test } from 'vitest';
import { type Aggregation, answerOf, createGathering, measured } from './aggregate.js';

const named = (...names: string[]) => names.map((name) => ({ name, path: name.split('.') }));
const NOTHING: Aggregation = { groupBy: [], count: false, sum: [], min: [], max: [], avg: [] };

function gather(aggregation: Partial<Aggregation>, states: readonly JsonObject[]) {
  const whole = { ...NOTHING, ...aggregation };
  const gathering = createGathering(whole);
  for (const state of states) gathering.add(state);
  return answerOf(whole, gathering.groups());
}

test('sums are exact, and rounded once', () => {
  const sum = named('n');
  const sumOf = (...numbers: number[]) =>
    gather(
      { sum },
      numbers.map((n) => ({ n })),
    )[0]?.sum?.['n'];
  expect(sumOf(0.1, 0.2)).toBe(0.3);
  expect(sumOf(1e308, 1, -1e308)).toBe(1);
  expect(sumOf(5e-324, 1e21, -1e21)).toBe(5e-324);
  expect(sumOf(1.7976931348623157e308, 1.7976931348623157e308)).toBeNull();
  expect(sumOf()).toBe(0);
});

test('the least and the most are those of the order: numbers before texts, others left out', () => {
  const states = [{ n: 'b' }, { n: 2 }, { n: 'a' }, { n: 1 }, { n: true }, { n: null }, { n: [0] }, {}];
  expect(gather({ min: named('n'), max: named('n', 'absent') }, states)).toEqual([
    { group: {}, min: { n: 1 }, max: { n: 'b', absent: null } },
  ]);
});

test('means are of numbers alone', () => {
  expect(gather({ avg: named('a.n') }, [{ a: { n: 1 } }, { a: { n: 2 } }, { a: { n: 'x' } }, {}])).toEqual([
    { group: {}, avg: { 'a.n': 1.5 } },
  ]);
  expect(gather({ avg: named('n') }, [{}])).toEqual([{ group: {}, avg: { n: null } }]);
});

test('groups stand in the order of their values, what is missing last', () => {
  const states = [{}, { g: 'b' }, { g: 2 }, { g: 'a' }, { g: {} }, { g: null }, { g: false }, { g: 'b' }];
  expect(gather({ groupBy: named('g'), count: true }, states)).toEqual([
    { group: { g: 2 }, count: 1 },
    { group: { g: 'a' }, count: 1 },
    { group: { g: 'b' }, count: 2 },
    { group: { g: false }, count: 1 },
    { group: { g: null }, count: 3 },
  ]);
  expect(gather({ groupBy: named('g'), count: true }, [])).toEqual([]);
  expect(gather({ count: true }, [])).toEqual([{ group: {}, count: 0 }]);
});

test('an attribute that several measures name is gathered once', () => {
  const aggregation = { ...NOTHING, sum: named('a', 'b'), max: named('b') };
  expect(measured(aggregation).map(({ name }) => name)).toEqual(['a', 'b']);
});
