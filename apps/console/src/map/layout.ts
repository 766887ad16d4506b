import type { NodeKind, WorldGraph } from './graph.js';

/** Where a node is drawn: its upper left corner, in pixels. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<string, Place>;
}

/** Size of a node, and the room between nodes. */
export const NODE = { width: 180, height: 40, gap: 16, between: 120 };

/** From left to right: what starts events, the events, what they read and change. */
const COLUMNS: readonly NodeKind[] = ['trigger', 'event', 'schema'];

/** How often columns are put in order by their neighbours: it settles sooner. */
const ROUNDS = 8;

/** Nodes in three columns, each ordered by where its neighbours are, so that few lines cross. */
export function layoutOf({ nodes, edges }: WorldGraph): Layout {
  let columns = COLUMNS.map((kind) =>
    nodes.filter((node) => node.kind === kind).map(({ key }) => key),
  ).filter((keys) => keys.length > 0);
  const neighbours = new Map<string, string[]>(nodes.map(({ key }) => [key, []]));
  for (const { from, to } of edges) {
    neighbours.get(from)?.push(to);
    neighbours.get(to)?.push(from);
  }
  for (let round = 0; round < ROUNDS; round += 1)
    // One after the other: two that give way to each other at once would never settle.
    for (const at of columns.keys())
      columns = columns.with(at, ordered(columns[at] ?? [], neighbours, columns));
  const tallest = Math.max(1, ...columns.map((keys) => keys.length));
  const height = heightOf(tallest);
  const places = columns.flatMap((keys, column) => {
    const top = (height - heightOf(keys.length)) / 2;
    return keys.map((key, row): [string, Place] => [
      key,
      { x: column * (NODE.width + NODE.between), y: top + row * (NODE.height + NODE.gap) },
    ]);
  });
  const width = columns.length * NODE.width + Math.max(0, columns.length - 1) * NODE.between;
  return { width, height, places: new Map(places) };
}

const heightOf = (count: number): number => count * NODE.height + Math.max(0, count - 1) * NODE.gap;

/** By the mean place of the neighbours, 0 to 1; those without one keep theirs. */
function ordered(
  keys: readonly string[],
  neighbours: ReadonlyMap<string, readonly string[]>,
  columns: readonly (readonly string[])[],
): string[] {
  const placed = new Map(
    columns.flatMap((column) => column.map((key, at) => [key, placeOf(at, column.length)] as const)),
  );
  const meanOf = (key: string): number => {
    const others = neighbours.get(key) ?? [];
    if (others.length === 0) return placed.get(key) ?? 0;
    return others.reduce((sum, other) => sum + (placed.get(other) ?? 0), 0) / others.length;
  };
  const means = new Map(keys.map((key) => [key, meanOf(key)]));
  return keys.toSorted((a, b) => (means.get(a) ?? 0) - (means.get(b) ?? 0));
}

const placeOf = (at: number, count: number): number => (at + 0.5) / count;

/** A line between two nodes: from side to side, or around the left of a column that both are in. */
export function pathOf(from: Place, to: Place): string {
  const [startY, endY] = [from.y + NODE.height / 2, to.y + NODE.height / 2];
  if (from.x === to.x) {
    const bend = from.x - 24 - Math.min(60, Math.abs(startY - endY) / 6);
    return `M ${from.x} ${startY} C ${bend} ${startY}, ${bend} ${endY}, ${to.x} ${endY}`;
  }
  const isRight = to.x > from.x;
  const [startX, endX] = isRight ? [from.x + NODE.width, to.x] : [from.x, to.x + NODE.width];
  const middle = (startX + endX) / 2;
  return `M ${startX} ${startY} C ${middle} ${startY}, ${middle} ${endY}, ${endX} ${endY}`;
}
