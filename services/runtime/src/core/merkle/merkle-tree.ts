import { hash } from 'node:crypto';

/**
 * The RFC 6962 tree over a journal. Its leaves are the entries' hashes in order: leaf 0 is the hash of the entry with `seq` 1.
 * Nodes are 32 bytes.
 */
export type Node = Buffer;

/** Leaves `start` to `end`, without `end`. */
export interface Leaves {
  readonly start: number;
  readonly end: number;
}

/** A complete subtree: 2^`level` leaves, the first of which is `place` × 2^`level`. */
export interface Subtree {
  readonly level: number;
  readonly place: number;
}

const LEAF = Buffer.of(0);
const INNER = Buffer.of(1);
const sha256 = (...parts: readonly Buffer[]): Node => hash('sha256', Buffer.concat(parts), 'buffer');

/** @param entryHash 32 bytes */
export const leafOf = (entryHash: Buffer): Node => sha256(LEAF, entryHash);
const parentOf = (left: Node, right: Node): Node => sha256(INNER, left, right);

/** The largest power of two below `count`, which is at least 2. Numbers go beyond 32 bits. */
function halfOf(count: number): number {
  let half = 1;
  while (half * 2 < count) half *= 2;
  return half;
}

/** The complete subtrees that leaves consist of, from the left. `start` is where a subtree of a tree begins. */
export function subtreesOf({ start, end }: Leaves): Subtree[] {
  const found: Subtree[] = [];
  for (let at = start; at < end; ) {
    let level = 0;
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level += 1;
    found.push({ level, place: at / 2 ** level });
    at += 2 ** level;
  }
  return found;
}

/** The root over adjacent complete subtrees, as `subtreesOf` lists them. There is at least one. */
export const rootOver = (nodes: readonly Node[]): Node =>
  nodes.reduceRight((right, left) => parentOf(left, right));

/** What an inclusion proof of a leaf consists of, from the leaf up: the roots over these leaves (RFC 6962, 2.1.1). */
export function inclusionPath(leaf: number, { start, end }: Leaves): Leaves[] {
  if (end - start <= 1) return [];
  const middle = start + halfOf(end - start);
  const [left, right] = [
    { start, end: middle },
    { start: middle, end },
  ];
  return leaf < middle ? [...inclusionPath(leaf, left), right] : [...inclusionPath(leaf, right), left];
}

/** What a consistency proof between the trees of `from` and of `to` leaves consists of (RFC 6962, 2.1.2). */
export function consistencyPath(from: number, to: number): Leaves[] {
  return from === to ? [] : pathBetween(from, { start: 0, end: to }, true);
}

/** `isWhole`: the earlier tree is these leaves from their start, so that its root is known. */
function pathBetween(from: number, { start, end }: Leaves, isWhole: boolean): Leaves[] {
  if (from === end) return isWhole ? [] : [{ start, end }];
  const middle = start + halfOf(end - start);
  const [left, right] = [
    { start, end: middle },
    { start: middle, end },
  ];
  return from <= middle
    ? [...pathBetween(from, left, isWhole), right]
    : [...pathBetween(from, right, false), left];
}

/** What is stored of a tree are the subtrees of this level and above; those below are computed from the entries. */
export const BLOCK_LEVEL = 8;
export const BLOCK_LEAVES = 2 ** BLOCK_LEVEL;
/** The subtrees of this level are stored with their block. */
export const PART_LEVEL = 4;
export const PART_LEAVES = 2 ** PART_LEVEL;

/** The nodes of all complete subtrees over nodes, level by level: the first list are these nodes, the last has one at most. */
export function levelsOver(nodes: readonly Node[]): Node[][] {
  const levels = [[...nodes]];
  for (let below = levels[0] ?? []; below.length > 1; below = levels.at(-1) ?? [])
    levels.push(
      Array.from({ length: below.length >> 1 }, (_, at) =>
        parentOf(below[2 * at] as Node, below[2 * at + 1] as Node),
      ),
    );
  return levels;
}

export interface StoredNode extends Subtree {
  readonly node: Node;
  /** Of a block: the nodes of its parts, one behind the other. */
  readonly parts?: Buffer | null;
}

/**
 * The nodes that are complete once a block of leaves is added: its own root and those of the subtrees that it completes.
 * `edge` are the roots of the complete subtrees before it, the smallest last; it is moved on.
 */
export function addBlock(edge: StoredNode[], block: number, leaves: readonly Node[]): StoredNode[] {
  const levels = levelsOver(leaves);
  const [root = LEAF] = levels.at(-1) ?? [];
  const parts = Buffer.concat(levels[PART_LEVEL] ?? []);
  let added: StoredNode = { level: BLOCK_LEVEL, place: block, node: root, parts };
  const made = [added];
  while (edge.at(-1)?.level === added.level) {
    const left = edge.pop() as StoredNode;
    added = { level: added.level + 1, place: left.place / 2, node: parentOf(left.node, added.node) };
    made.push(added);
  }
  edge.push(added);
  return made;
}
