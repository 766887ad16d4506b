import { sql } from 'kysely';
import {
  BLOCK_LEAVES,
  BLOCK_LEVEL,
  type Leaves,
  levelsOver,
  type Node,
  PART_LEAVES,
  PART_LEVEL,
  rootOver,
  type StoredNode,
  type Subtree,
  subtreesOf,
} from '../../core/merkle/merkle-tree.js';
import type { Db } from '../tables/schema.js';
import {
  blocksOf,
  broken,
  byKey,
  headAfter,
  keyOf,
  LEAVES,
  type LeavesRow,
  leavesIn,
  type Nodes,
  nodeIn,
  readLeaves,
  readNodes,
  type StoredHead,
  split,
} from './merkle-rows.js';

/** A tree as it was at one moment. */
export interface ReadTree extends StoredHead {
  /** Leaves of the journal. */
  readonly entries: number;
  /** Leaves that are stored; of the others at most a block was read. */
  readonly stored: number;
  /**
   * The roots over these leaves of the tree, few of them: one statement for all nodes, and two for each block whose inner nodes
   * are needed. Nodes never change, so it does not matter that they are read later. @throws `history_broken` where
   * entries are no longer those that the stored tree was made of
   */
  rootsOver(leaves: readonly Leaves[]): Promise<Node[]>;
}

/** Levels above blocks: a journal has fewer than 2^52 entries. */
const MOST_LEVEL = 52;

interface TreeRow extends LeavesRow, Omit<StoredHead, 'size'> {
  readonly entries: number;
  readonly stored: number;
  /** The complete subtrees of what is stored. */
  readonly edge: readonly (readonly [level: number, place: number, hex: string])[] | null;
}

/**
 * Reads a tree with what its root over the first `until` entries takes, in one statement, so that all of it is of one moment.
 * Of entries that are not stored it has those of one block at most.
 */
export async function readTree(
  db: Db,
  deploymentId: number,
  until = Number.MAX_SAFE_INTEGER,
): Promise<ReadTree> {
  const { rows } = await sql<TreeRow>`
    select h.seq as entries, t.size as stored, t.generation, t.lost, r.hashes, r.losses, r."lostSince", e.edge
    from journal_heads h
    cross join lateral (
      select coalesce(max(m.size), 0)::bigint as size, coalesce(max(m.generation), 1) as generation, (array_agg(m.lost))[1] as lost
      from merkle_heads m where m.deployment_id = h.deployment_id) t
    cross join lateral (
      select ${LEAVES} from journal j
      where j.deployment_id = h.deployment_id and j.seq > t.size
        and j.seq <= least(h.seq, t.size + ${BLOCK_LEAVES - 1}::integer, ${until}::bigint)) r
    cross join lateral (
      select json_agg(json_build_array(n.level, n.place, encode(n.node, 'hex'))) as edge
      from generate_series(${BLOCK_LEVEL}::integer, ${MOST_LEVEL}::integer) l (level)
      join merkle_nodes n on n.deployment_id = h.deployment_id and n.level = l.level and n.place = (t.size >> l.level) - 1
      where (t.size >> l.level) % 2 = 1) e
    where h.deployment_id = ${deploymentId}`.execute(db);
  const [row] = rows;
  const { entries = 0, stored = 0, generation = 1, lost = null, edge } = row ?? {};
  const size = Math.max(stored, Math.min(entries, stored + BLOCK_LEAVES - 1, until));
  const rest = leavesIn(row, { start: stored, end: size });
  const known = (edge ?? []).map(([level, place, hex]) => ({ level, place, node: Buffer.from(hex, 'hex') }));
  return {
    ...headAfter({ size: stored, generation, lost }, size, rest),
    ...{ entries, stored },
    rootsOver: (ranges) =>
      rootsOver({ db, deploymentId, stored, rest: rest.leaves, known: new Map(byKey(known)) }, ranges),
  };
}

interface Source {
  readonly db: Db;
  readonly deploymentId: number;
  readonly stored: number;
  /** Leaves behind what is stored. */
  readonly rest: readonly Node[];
  readonly known: Nodes;
}

async function rootsOver(source: Source, ranges: readonly Leaves[]): Promise<Node[]> {
  const { db, deploymentId, stored, rest, known } = source;
  const parts = ranges.map(subtreesOf);
  const isStored = ({ level }: Subtree) => level >= BLOCK_LEVEL;
  const small = parts.flat().filter((subtree) => !isStored(subtree));
  const ofRest = small.filter(({ level, place }) => place * 2 ** level >= stored);
  const inner = small.filter(({ level, place }) => place * 2 ** level < stored);
  const blocks = [...new Set(inner.map(blockOf))].map((place) => ({ level: BLOCK_LEVEL, place }));
  const unknown = parts.flat().filter((subtree) => isStored(subtree) && !known.has(keyOf(subtree)));
  const nodes = new Map([...known, ...(await readNodes(db, deploymentId, [...unknown, ...blocks]))]);
  const add = (found: readonly StoredNode[]) => {
    for (const [key, one] of byKey(found)) nodes.set(key, one);
  };
  add(among(ofRest, levelsOver(rest), { level: 0, place: stored }));
  for (const block of blocks)
    add(
      await innerNodes(
        source,
        block,
        nodes,
        inner.filter((one) => blockOf(one) === block.place),
      ),
    );
  return parts.map((subtrees) => rootOver(subtrees.map((subtree) => nodeIn(nodes, subtree))));
}

const blockOf = ({ level, place }: Subtree): number => blocksOf(place * 2 ** level);

/** Those of the wanted subtrees that are in levels, of which the first begins with the node `from`. */
const among = (
  wanted: readonly Subtree[],
  levels: readonly (readonly Node[])[],
  from: Subtree,
): StoredNode[] =>
  wanted.flatMap(({ level, place }) => {
    const node = levels[level - from.level]?.[place - from.place / 2 ** (level - from.level)];
    return node === undefined ? [] : [{ level, place, node }];
  });

/** Nodes within a stored block. Each that is read is compared with what is stored above it. */
async function innerNodes(
  { db, deploymentId }: Source,
  block: Subtree,
  nodes: Nodes,
  wanted: readonly Subtree[],
): Promise<StoredNode[]> {
  const levelsOf = async (subtree: Subtree): Promise<Node[][]> => {
    const leaves = 2 ** subtree.level;
    const range = { start: subtree.place * leaves, end: (subtree.place + 1) * leaves };
    return levelsOver((await readLeaves(db, deploymentId, range)).leaves);
  };
  const stored = nodes.get(keyOf(block))?.parts ?? null;
  // A block of an earlier release has no parts.
  const whole = stored === null ? await levelsOf(block) : undefined;
  const upper = whole?.slice(PART_LEVEL) ?? levelsOver(split(stored ?? Buffer.of()));
  const first = { level: PART_LEVEL, place: (block.place * BLOCK_LEAVES) / PART_LEAVES };
  refuseOther(upper, nodeIn(nodes, block), block);
  const found = among(
    wanted.filter(({ level }) => level >= PART_LEVEL),
    upper,
    first,
  );
  const below = wanted.filter(({ level }) => level < PART_LEVEL);
  const partOf = ({ level, place }: Subtree) => Math.floor((place * 2 ** level) / PART_LEAVES);
  for (const place of new Set(below.map(partOf))) {
    const part = { level: PART_LEVEL, place };
    const levels = await levelsOf(part);
    refuseOther(levels, upper[0]?.[place - first.place], part);
    found.push(
      ...among(
        below.filter((one) => partOf(one) === place),
        levels,
        { level: 0, place: place * PART_LEAVES },
      ),
    );
  }
  return found;
}

/** @throws `history_broken` */
function refuseOther(
  levels: readonly (readonly Node[])[],
  root: Node | undefined,
  { level, place }: Subtree,
) {
  const leaves = 2 ** level;
  if (root === undefined || levels.at(-1)?.[0]?.equals(root) !== true)
    throw broken({ start: place * leaves, end: (place + 1) * leaves });
}
