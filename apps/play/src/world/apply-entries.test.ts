import { expect, it } from 'vitest';
import { applyEntries, KEPT_ENTRIES, KEPT_ROWS, type Shown, withEarlier } from './apply-entries.js';
import type { Change, Entry, Rows } from './records.js';

const change = (op: Change['op'], instanceId: string, set: object = {}, unset: string[] = []) =>
  ({ entitySchema: 'horse', instanceId, op, set, unset, revision: 1 }) as Change;
const entry = (seq: number, ...changes: Change[]) =>
  ({ seq, changes, kind: 'execution' }) as unknown as Entry;
const rowsOf = (
  states: Record<string, object>,
  total = Object.keys(states).length,
  isMinimum = false,
): Rows => ({
  rows: new Map(Object.entries(states).map(([id, state]) => [id, { id, state: { ...state }, changed: {} }])),
  total,
  isMinimum,
});
const shown = (rows: Rows, more: Partial<Shown> = {}): Shown => ({
  seq: 4,
  entries: [],
  schemas: ['horse'],
  loaded: new Map([['horse', rows]]),
  ...more,
});
const horses = ({ loaded }: Shown) => loaded.get('horse') as Rows;

it('sets, removes and marks attributes, and leaves what it was given as it was', () => {
  const before = shown(rowsOf({ A: { wins: 1, name: 'x' } }));
  const after = applyEntries(before, [entry(5, change('update', 'A', { wins: 2 }, ['name']))]);
  expect(horses(after).rows.get('A')).toEqual({ id: 'A', state: { wins: 2 }, changed: { wins: 5 } });
  expect(horses(before).rows.get('A')?.state).toEqual({ wins: 1, name: 'x' });
  expect([after.seq, after.entries.length]).toEqual([5, 1]);
});

it('passes over entries that were applied before', () => {
  const before = shown(rowsOf({ A: {} }));
  expect(applyEntries(before, [entry(4, change('delete', 'A')), entry(3)])).toBe(before);
});

it('counts what comes and goes, once also where a reading has seen it already', () => {
  const created = entry(5, change('create', 'B', { wins: 0 }));
  const twice = applyEntries(shown(rowsOf({ A: {}, B: { wins: 0 } })), [created]);
  expect([horses(twice).total, horses(twice).rows.size]).toEqual([2, 2]);
  const fresh = applyEntries(shown(rowsOf({ A: {} })), [created, entry(6, change('delete', 'A'))]);
  expect([horses(fresh).total, [...horses(fresh).rows.keys()]]).toEqual([1, ['B']]);
  const gone = applyEntries(shown(rowsOf({ A: {} })), [entry(5, change('delete', 'Z'))]);
  expect(horses(gone).total).toBe(1);
});

it('counts instances that the page does not have, without taking them in', () => {
  const part = applyEntries(shown(rowsOf({ A: {} }, 50)), [entry(5, change('create', 'B'))]);
  expect([horses(part).total, horses(part).rows.size]).toEqual([51, 1]);
  const states = Object.fromEntries(Array.from({ length: KEPT_ROWS }, (_, at) => [`h${at}`, {}]));
  const full = applyEntries(shown(rowsOf(states)), [entry(5, change('create', 'B'))]);
  expect([horses(full).total, horses(full).rows.size]).toEqual([KEPT_ROWS + 1, KEPT_ROWS]);
});

it('learns of schemas that get their first instance', () => {
  const none = { ...shown(rowsOf({})), schemas: [], loaded: new Map<string, Rows>() };
  expect(applyEntries(none, [entry(5, change('create', 'A'))]).schemas).toEqual(['horse']);
});

it('keeps the newest entries, newest first', () => {
  const told = Array.from({ length: KEPT_ENTRIES + 10 }, (_, at) => entry(5 + at));
  const { entries } = applyEntries(shown(rowsOf({})), told);
  expect([entries.length, entries[0]?.seq, entries.at(-1)?.seq]).toEqual([KEPT_ENTRIES, 214, 15]);
});

const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => entry(from - at));
const endsOf = (entries: readonly Entry[]) => [entries.length, entries[0]?.seq, entries.at(-1)?.seq];

it('keeps as many entries as were read on request', () => {
  const held = KEPT_ENTRIES + 40;
  const before = shown(rowsOf({}), { seq: 300, entries: down(300, 301 - held) });
  expect(endsOf(applyEntries(before, [entry(301)]).entries)).toEqual([held, 301, 302 - held]);
});

it('puts earlier entries behind those that are held, without a hole', () => {
  const from = down(250, 51);
  const earlier = down(50, 11);
  expect(endsOf(withEarlier(from, from, earlier))).toEqual([240, 250, 11]);
  // Five have come meanwhile, for which the last five were left out.
  expect(endsOf(withEarlier(down(255, 56), from, earlier))).toEqual([245, 255, 11]);
  // All are others by now.
  const others = down(900, 701);
  expect(withEarlier(others, from, earlier)).toBe(others);
});
