import { expect, it } from 'vitest';
import type { JournalEntry } from './entry-words.js';
import { afterEntries, PAGE, type SeenInstances } from './seen-instances.js';

const AT = '2026-11-26T12:00:00.000Z';
const row = (instanceId: string, state = { wins: 0 }, entitySchema = 'horse') => ({
  id: 1,
  entitySchema,
  instanceId,
  state,
  revision: 1,
  createdAt: AT,
  updatedAt: AT,
});
const seen = (rows = [row('A'), row('B')]): SeenInstances => ({
  seq: 4,
  schema: undefined,
  firstPage: 1,
  lastPage: 1,
  total: rows.length,
  rows,
});
interface Change {
  op: string;
  instanceId: string;
  set?: object;
  unset?: string[];
  entitySchema?: string;
}
const entry = (seq: number, ...changes: Change[]) =>
  ({
    seq,
    executedAt: AT,
    changes: changes.map((change) => ({ entitySchema: 'horse', set: {}, unset: [], revision: 2, ...change })),
  }) as unknown as JournalEntry;
const update = (instanceId: string, set: object, unset: string[] = []) => ({
  op: 'update',
  instanceId,
  set,
  unset,
});

it('takes over what entries change, once, and says after which entry that is', () => {
  const entries = [
    entry(4, update('A', { wins: 9 })),
    entry(5, update('A', { wins: 1, speed: 2 })),
    entry(6, update('A', { wins: 2 }, ['speed'])),
  ];
  const after = afterEntries(seen(), entries);
  expect(after).toMatchObject({ seq: 6, total: 2 });
  expect(after?.rows.map(({ state, revision }) => [state, revision])).toEqual([
    [{ wins: 2 }, 2],
    [{ wins: 0 }, 1],
  ]);
});

it('appends what is created where that is in view, and counts it', () => {
  const create = { op: 'create', instanceId: 'C', set: { wins: 0 } };
  expect(afterEntries(seen(), [entry(5, create)])).toMatchObject({ total: 3, rows: { length: 3 } });
  const full = Array.from({ length: PAGE }, (_, index) => row(`H${index}`));
  expect(afterEntries(seen(full), [entry(5, create)])).toMatchObject({ total: PAGE + 1, rows: full });
});

it('leaves other schemas and rows that are out of view alone', () => {
  const horses = { ...seen(), schema: 'horse' };
  const other = { op: 'create', instanceId: 'R', entitySchema: 'race' };
  expect(afterEntries(horses, [entry(5, other, update('Z', { wins: 1 }))])).toEqual({ ...horses, seq: 5 });
});

it('has them read anew where an entry is missing, or one was deleted', () => {
  expect(afterEntries(seen(), [entry(6, update('A', { wins: 1 }))])).toBeUndefined();
  expect(afterEntries(seen(), [entry(5, { op: 'delete', instanceId: 'A' })])).toBeUndefined();
});
