import type { JournalEntry } from './entry-words.js';

/** One value of an attribute, as an entry left it; null: the attribute or the instance is gone. */
export interface Point {
  readonly seq: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly value: number | null;
}

/** The values that entries gave an instance's attribute, oldest first. Entries may come in any order. */
export function pointsOf(entries: Iterable<JournalEntry>, instance: string, attribute: string): Point[] {
  const points: Point[] = [];
  for (const entry of entries) {
    const change = entry.stateChanges[instance];
    if (change === undefined) continue;
    const value = change === null ? null : change[attribute];
    if (value === undefined) continue;
    points.push({
      seq: entry.seq,
      time: Date.parse(entry.executedAt) / 1000,
      value: typeof value === 'number' ? value : null,
    });
  }
  return points.sort((a, b) => a.seq - b.seq);
}

/**
 * Columns as uPlot takes them: first the axis, then one per line; a line holds its value where others change.
 * @param head the last entry: to it lines are held over entries
 */
export function plotColumns(
  lines: readonly (readonly Point[])[],
  over: 'seq' | 'time',
  head?: number,
): (number | null)[][] {
  const axis = new Map<number, number>();
  if (over === 'seq' && head !== undefined && lines.length > 0) axis.set(head, head);
  for (const { seq, time } of lines.flat()) axis.set(seq, over === 'seq' ? seq : time);
  const seqs = [...axis.keys()].sort((a, b) => a - b);
  return [seqs.map((seq) => axis.get(seq) ?? null), ...lines.map((line) => heldAt(line, seqs))];
}

function heldAt(line: readonly Point[], seqs: readonly number[]): (number | null)[] {
  let next = 0;
  let held: number | null = null;
  return seqs.map((seq) => {
    for (let point = line[next]; point !== undefined && point.seq <= seq; point = line[next]) {
      held = point.value;
      next += 1;
    }
    return held;
  });
}

/** The entry whose point is nearest to a value of the axis. */
export function nearestSeq(
  lines: readonly (readonly Point[])[],
  over: 'seq' | 'time',
  at: number,
): number | undefined {
  let nearest: Point | undefined;
  const distance = (point: Point) => Math.abs(point[over] - at);
  for (const point of lines.flat())
    if (nearest === undefined || distance(point) < distance(nearest)) nearest = point;
  return nearest?.seq;
}

/** Attributes that have numbers in these histories: those that change most often first, else by name. */
export function numbersIn(
  histories: readonly { readonly instance: string; readonly entries: readonly JournalEntry[] }[],
): string[] {
  const counts = new Map<string, number>();
  for (const { instance, entries } of histories)
    for (const { stateChanges } of entries)
      for (const [name, value] of Object.entries(stateChanges[instance] ?? {}))
        if (typeof value === 'number') counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([a, timesA], [b, timesB]) => timesB - timesA || (a < b ? -1 : 1))
    .map(([name]) => name);
}
