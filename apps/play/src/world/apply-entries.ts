import type { Change, Entry, Row, Rows } from './records.js';

/** Entries that the page keeps, newest first; more where they were read on request. */
export const KEPT_ENTRIES = 200;
/** Instances of a schema that the page keeps at most; a search finds others. */
export const KEPT_ROWS = 1000;

/** What entries change of what is shown. */
export interface Shown {
  readonly seq: number;
  readonly entries: readonly Entry[];
  readonly schemas: readonly string[];
  readonly loaded: ReadonlyMap<string, Rows>;
}

/** Applies entries in order; those that were applied before are passed over. */
export function applyEntries(shown: Shown, told: readonly Entry[]): Shown {
  const fresh = told.filter(({ seq }) => seq > shown.seq);
  const last = fresh.at(-1);
  if (last === undefined) return shown;
  const loaded = new Map(shown.loaded);
  const schemas = new Set(shown.schemas);
  const copies = new Map<string, Map<string, Row>>();
  for (const { seq, changes } of fresh)
    for (const change of changes) {
      if (change.op === 'create') schemas.add(change.entitySchema);
      const before = loaded.get(change.entitySchema);
      if (before === undefined) continue;
      // One copy for all entries: there may be hundreds a second.
      const rows = copies.get(change.entitySchema) ?? new Map(before.rows);
      copies.set(change.entitySchema, rows);
      loaded.set(change.entitySchema, { ...changed(before, rows, change, seq), rows });
    }
  return {
    seq: last.seq,
    entries: [...fresh.toReversed(), ...shown.entries].slice(0, Math.max(KEPT_ENTRIES, shown.entries.length)),
    schemas: schemas.size === shown.schemas.length ? shown.schemas : [...schemas].sort(),
    loaded,
  };
}

/**
 * The entries that are held, and behind them the earlier ones that were read before the last of `from`: those that were held then.
 * Some of these may have been left out meanwhile, for newer ones. Without a hole, or as they are.
 */
export function withEarlier(
  held: readonly Entry[],
  from: readonly Entry[],
  earlier: readonly Entry[],
): readonly Entry[] {
  const last = held.at(-1)?.seq ?? 0;
  const more = [...from, ...earlier].filter(({ seq }) => seq < last);
  const isWhole = more.every(({ seq }, at) => seq === last - 1 - at);
  return isWhole ? [...held, ...more] : held;
}

/** Changes `rows`, and tells the new total. A change that a reading has seen already changes nothing. */
function changed(before: Rows, rows: Map<string, Row>, change: Change, seq: number): Rows {
  const { instanceId: id, op, set, unset } = change;
  const row = rows.get(id);
  const isAll = !before.isMinimum && rows.size >= before.total;
  if (op === 'delete') {
    rows.delete(id);
    return { ...before, total: row === undefined && isAll ? before.total : before.total - 1 };
  }
  if (op === 'create' && row === undefined) {
    if (isAll && rows.size < KEPT_ROWS) rows.set(id, { id, state: set, changed: marked(set, seq) });
    return { ...before, total: before.total + 1 };
  }
  if (row === undefined) return before;
  const state: Record<string, unknown> = op === 'create' ? { ...set } : { ...row.state, ...set };
  for (const name of unset) delete state[name];
  rows.set(id, { id, state, changed: { ...row.changed, ...marked(set, seq) } });
  return before;
}

const marked = (set: object, seq: number): Record<string, number> =>
  Object.fromEntries(Object.keys(set).map((name) => [name, seq]));
