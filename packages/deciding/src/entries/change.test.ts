import type { InstanceChange, JsonObject, JsonValue } from '@orrery/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  changeKey,
  differenceOf,
  foldChange,
  hasKeptState,
  journalled,
  sameJson,
  stateChangesOf,
  storedChanges,
} from './entry.js';

const change = (op: InstanceChange['op'], set: JsonObject = {}, unset: string[] = []): InstanceChange => ({
  entitySchema: 'horse',
  instanceId: 'a:b',
  op,
  set,
  unset,
  revision: 2,
});

test('folding the difference of two states leads from one to the other', () => {
  const keys = fc.constantFrom('a', 'b', 'c', 'd');
  const states = fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 })) as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(states, states, fc.uniqueArray(keys), (before, after, named) => {
      const { set, unset } = differenceOf(before, after, new Set(named));
      expect(sameJson(foldChange(before, change('update', set, unset)), after)).toBe(true);
    }),
  );
});

test('only what differs is set, and what was named', () => {
  const before = { a: { x: 1, y: 2 }, b: 1, c: 2 };
  const after: JsonObject = { a: { y: 2, x: 1 }, b: 1, d: null };
  expect(differenceOf(before, after)).toEqual({ set: { d: null }, unset: ['c'] });
  expect(differenceOf(before, after, new Set(['b']))).toEqual({ set: { b: 1, d: null }, unset: ['c'] });
});

test('equality is that of JSON', () => {
  const equal: [JsonValue, JsonValue][] = [
    [0, -0],
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
  ];
  for (const [a, b] of equal) expect(sameJson(a, b)).toBe(true);
  for (const [a, b] of [
    [null, undefined],
    [1, '1'],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
  ] as [JsonValue, JsonValue][]) {
    expect(sameJson(a, b)).toBe(false);
  }
});

test('a deletion leaves nothing, and what cannot follow is refused', () => {
  expect(foldChange({ a: 1 }, change('delete'))).toBeNull();
  expect(foldChange(null, change('create', { a: 1 }))).toEqual({ a: 1 });
  expect(() => foldChange(null, change('update'))).toThrow(RangeError);
  expect(() => foldChange({}, change('create'))).toThrow(RangeError);
});

test('state changes show values, null for what was removed, null for what was deleted', () => {
  const updated = stateChangesOf([change('update', { a: 1 }, ['b'])]);
  expect(updated).toEqual({ 'horse:a:b': { a: 1, b: null } });
  expect(stateChangesOf([change('delete')])).toEqual({ 'horse:a:b': null });
});

test('every hundredth revision is kept, and every deletion', () => {
  const revisions = Array.from({ length: 305 }, (_, index) => index + 1);
  const at = (op: InstanceChange['op']) =>
    revisions.filter((revision) => hasKeptState({ ...change(op), revision }));
  expect(at('update')).toEqual([100, 200, 300]);
  expect(at('delete')).toEqual(revisions);
  expect(hasKeptState({ ...change('create'), revision: 1 })).toBe(false);
});

test('names an instance by its schema and its id, and journals a change without the state that it leaves', () => {
  const change = {
    entitySchema: 'horse',
    instanceId: 'a:b',
    op: 'create',
    set: {},
    unset: [],
    revision: 1,
    state: {},
  } as const;
  expect(changeKey(change)).toBe('horse:a:b');
  const { state: _, ...rest } = change;
  expect(journalled({ ...change, unset: [] })).toEqual(rest);
  expect(storedChanges([{ ...change, unset: [] }])).toEqual([change]);
});
