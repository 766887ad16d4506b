import type { Entry, Row } from '../world/records.js';

/** Values of an attribute of one instance, from entry to entry. */
export interface Line {
  readonly id: string;
  readonly points: readonly Point[];
}
export interface Point {
  readonly seq: number;
  readonly value: number;
}

const MOST_LINES = 5;

/**
 * How a number went, for the instances that have most of it now, over the entries that the page has (newest first). Each line
 * ends at `seq` with what is so now; a line begins with the first entry that tells its value.
 */
export function trendOf(
  entries: readonly Entry[],
  rows: readonly Row[],
  { schema, attribute, seq }: { schema: string; attribute: string; seq: number },
): Line[] {
  const points = new Map<string, Point[]>();
  for (const { seq: at, changes } of entries.toReversed())
    for (const { entitySchema, instanceId, set } of changes) {
      const value = set[attribute];
      if (entitySchema !== schema || typeof value !== 'number') continue;
      points.set(instanceId, [...(points.get(instanceId) ?? []), { seq: at, value }]);
    }
  return rows
    .map(({ id, state }) => ({ id, value: state[attribute] }))
    .filter(
      (one): one is { id: string; value: number } => typeof one.value === 'number' && points.has(one.id),
    )
    .sort((a, b) => b.value - a.value)
    .slice(0, MOST_LINES)
    .map(({ id, value }) => ({ id, points: [...(points.get(id) ?? []), { seq, value }] }));
}

/** The corners of a line of steps in a box of this size: a value holds until the next one. */
export function stepsOf(
  { points }: Line,
  { first, last, least, most }: Bounds,
  { width, height }: { width: number; height: number },
): string {
  const x = (seq: number) => round(last === first ? width : ((seq - first) / (last - first)) * width);
  const y = (value: number) =>
    round(most === least ? height / 2 : height - ((value - least) / (most - least)) * height);
  return points
    .flatMap(({ seq, value }, at) => {
      const before = points[at - 1];
      const corner = `${x(seq)},${y(value)}`;
      return before === undefined || before.value === value
        ? [corner]
        : [`${x(seq)},${y(before.value)}`, corner];
    })
    .join(' ');
}

const round = (value: number): number => Math.round(value * 10) / 10;

export interface Bounds {
  readonly first: number;
  readonly last: number;
  readonly least: number;
  readonly most: number;
}

/** What all lines together reach. */
export function boundsOf(lines: readonly Line[]): Bounds {
  const points = lines.flatMap((line) => line.points);
  const [seqs, values] = [points.map(({ seq }) => seq), points.map(({ value }) => value)];
  return {
    first: Math.min(...seqs),
    last: Math.max(...seqs),
    least: Math.min(...values),
    most: Math.max(...values),
  };
}
