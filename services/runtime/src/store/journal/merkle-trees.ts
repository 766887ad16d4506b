import { ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { createSemaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { LostEnd } from '../../core/merkle/checkpoint.js';
import {
  addBlock,
  BLOCK_LEAVES,
  BLOCK_LEVEL,
  type Leaves,
  leafOf,
  levelsOver,
  type Node,
  rootOver,
  type StoredNode,
  type Subtree,
  subtreesOf,
} from '../../core/merkle/merkle-tree.js';
import type { Db, Trx } from '../tables/schema.js';

/** Blocks that one transaction adds: about 10 ms of this process. */
const BLOCKS_AT_ONCE = 16;
/** Trees that are computed at once: long journals leave connections for others. */
const COMPUTED_AT_ONCE = 2;
const MAX_WAITING = 1000;

const blocksOf = (entries: number): number => Math.floor(entries / BLOCK_LEAVES);

/** Whether a tree with the first `size` entries lacks no whole block of a journal's. */
export const isGrown = (size: number, entries: number): boolean => blocksOf(entries) <= blocksOf(size);

/**
 * Adds to a deployment's tree the whole blocks of its journal, which has `entries`. What is added stays: entries never change,
 * so any process may do it. When `isEnough` or the signal end it, the next call goes on from there. @throws `overloaded`
 * when too many wait
 *
 * @returns how many entries the tree has
 */
export type GrowTree = (
  deploymentId: number,
  entries: number,
  bounds: { readonly signal: AbortSignal; readonly isEnough: () => boolean },
) => Promise<number>;

export function createTrees(db: Db): GrowTree {
  const computing = createSemaphore(COMPUTED_AT_ONCE, { maxWaiting: MAX_WAITING });
  return async (deploymentId, entries, { signal, isEnough }) => {
    const { size } = await treeHead(db, deploymentId);
    if (isGrown(size, entries)) return size;
    return computing.run(signal, async () => {
      let done = size;
      while (!isGrown(done, entries) && !isEnough()) {
        signal.throwIfAborted();
        done = await transaction(db, (trx) => addNext(trx, deploymentId, blocksOf(entries)), { signal });
      }
      return done;
    });
  };
}

interface StoredHead {
  readonly size: number;
  readonly generation: number;
  readonly lost: LostEnd | null;
}

const EMPTY: StoredHead = { size: 0, generation: 1, lost: null };

async function treeHead(db: Db, deploymentId: number): Promise<StoredHead> {
  const { rows } = await sql<StoredHead>`
    select size, generation, lost from merkle_heads where deployment_id = ${deploymentId}`.execute(db);
  return rows[0] ?? EMPTY;
}

/** The row of the head is locked, so that one process at a time adds to a tree. */
async function addNext(trx: Trx, deploymentId: number, blocks: number): Promise<number> {
  await sql`
    insert into merkle_heads (deployment_id, size, generation) values (${deploymentId}, 0, 1)
    on conflict do nothing`.execute(trx);
  const { rows } = await sql<StoredHead>`
    select size, generation, lost from merkle_heads where deployment_id = ${deploymentId} for update`.execute(
    trx,
  );
  const head = rows[0] ?? EMPTY;
  const first = blocksOf(head.size);
  const last = Math.min(first + BLOCKS_AT_ONCE, blocks);
  if (last <= first) return head.size;
  const read = await readLeaves(trx, deploymentId, { start: head.size, end: last * BLOCK_LEAVES });
  const edge = await readEdge(trx, deploymentId, head.size);
  const made = Array.from({ length: last - first }, (_, at) =>
    addBlock(edge, first + at, read.leaves.slice(at * BLOCK_LEAVES, (at + 1) * BLOCK_LEAVES)),
  ).flat();
  await insertNodes(trx, deploymentId, made);
  const { size, generation, lost } = headAfter(head, last * BLOCK_LEAVES, read);
  await sql`
    update merkle_heads set size = ${size}, generation = ${generation}, lost = ${JSON.stringify(lost)}::jsonb
    where deployment_id = ${deploymentId}`.execute(trx);
  return size;
}

const headAfter = ({ generation, lost }: StoredHead, size: number, read: ReadLeaves): StoredHead => ({
  size,
  generation: generation + read.losses,
  lost: read.lost ?? lost,
});

async function readEdge(db: Db, deploymentId: number, size: number): Promise<StoredNode[]> {
  const subtrees = subtreesOf({ start: 0, end: size });
  const nodes = await readNodes(db, deploymentId, subtrees);
  return subtrees.map((subtree) => ({ ...subtree, node: nodeIn(nodes, subtree) }));
}

const insertNodes = (trx: Trx, deploymentId: number, nodes: readonly StoredNode[]) =>
  sql`
    insert into merkle_nodes (deployment_id, level, place, node)
    select ${deploymentId}::bigint, level, place, decode(node, 'hex')
    from unnest(${nodes.map(({ level }) => level)}::smallint[], ${nodes.map(({ place }) => place)}::bigint[],
      ${nodes.map(({ node }) => node.toString('hex'))}::text[]) n (level, place, node)`.execute(trx);

interface ReadLeaves {
  readonly leaves: readonly Node[];
  /** How many entries `tail_lost` are among them, and what the last of these names. */
  readonly losses: number;
  readonly lost: LostEnd | null;
}

const HASH_BYTES = 32;

/** @throws `history_broken` where one of the entries is missing */
async function readLeaves(db: Db, deploymentId: number, { start, end }: Leaves): Promise<ReadLeaves> {
  const { rows } = await sql<{ hashes: string | null; losses: number; lost: LostEnd | null }>`
    select string_agg(hash, '' order by seq) as hashes, count(*) filter (where kind = 'tail_lost')::integer as losses,
      (array_agg(input order by seq desc) filter (where kind = 'tail_lost'))[1] as lost
    from journal where deployment_id = ${deploymentId} and seq > ${start} and seq <= ${end}`.execute(db);
  const { hashes, losses = 0, lost = null } = rows[0] ?? {};
  const bytes = Buffer.from(hashes ?? '', 'hex');
  if (bytes.length !== (end - start) * HASH_BYTES) throw broken({ start, end });
  const leaves = Array.from({ length: end - start }, (_, at) =>
    leafOf(bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)),
  );
  return { leaves, losses, lost };
}

const broken = ({ start, end }: Leaves): ServiceError =>
  new ServiceError(
    'history_broken',
    `The journal no longer holds what its Merkle tree was made of, somewhere in entries ${start + 1} to ${end}. ` +
      'GET …/history/verify checks all of it.',
  );

type Nodes = ReadonlyMap<string, Node>;
const keyOf = ({ level, place }: Subtree): string => `${level}:${place}`;

function nodeIn(nodes: Nodes, subtree: Subtree): Node {
  const node = nodes.get(keyOf(subtree));
  const leaves = 2 ** subtree.level;
  if (node === undefined) throw broken({ start: subtree.place * leaves, end: (subtree.place + 1) * leaves });
  return node;
}

async function readNodes(db: Db, deploymentId: number, subtrees: readonly Subtree[]): Promise<Nodes> {
  if (subtrees.length === 0) return new Map();
  const { rows } = await sql<StoredNode>`
    select t.level, t.place, t.node
    from unnest(${subtrees.map(({ level }) => level)}::smallint[], ${subtrees.map(({ place }) => place)}::bigint[])
      n (level, place)
    join merkle_nodes t on t.deployment_id = ${deploymentId} and t.level = n.level and t.place = n.place`.execute(
    db,
  );
  return new Map(rows.map((row) => [keyOf(row), row.node]));
}

/** A tree as it was at one moment. */
export interface ReadTree extends StoredHead {
  /** The roots over these leaves of the tree; few of them, since each may read a block of entries. */
  rootsOver(leaves: readonly Leaves[]): Promise<Node[]>;
}

/**
 * Reads the tree over the entries that a journal has, in one snapshot of the database. It must have been grown: at most one
 * block is not stored, else it has only the entries up to the end of that block. A root reads O(log n) nodes and at most two
 * blocks of entries, which are compared with what is stored of them.
 */
export const readTree = <T>(
  db: Db,
  deploymentId: number,
  use: (tree: ReadTree) => Promise<T>,
  signal: AbortSignal,
): Promise<T> =>
  transaction(
    db,
    async (trx) => {
      const stored = await treeHead(trx, deploymentId);
      const { rows } = await sql<{ seq: number }>`
        select seq from journal_heads where deployment_id = ${deploymentId}`.execute(trx);
      const size = Math.min(rows[0]?.seq ?? 0, stored.size + BLOCK_LEAVES - 1);
      const rest = await readLeaves(trx, deploymentId, { start: stored.size, end: size });
      return use({
        ...headAfter(stored, size, rest),
        rootsOver: (ranges) => rootsOver(trx, deploymentId, stored.size, rest.leaves, ranges),
      });
    },
    { isolation: 'repeatable read', signal },
  );

async function rootsOver(
  trx: Trx,
  deploymentId: number,
  stored: number,
  rest: readonly Node[],
  ranges: readonly Leaves[],
): Promise<Node[]> {
  const parts = ranges.map(subtreesOf);
  const isStored = ({ level }: Subtree) => level >= BLOCK_LEVEL;
  const small = parts.flat().filter((subtree) => !isStored(subtree));
  const blocks = new Set(small.map(({ level, place }) => blocksOf(place * 2 ** level)));
  const wanted = [...blocks].filter((block) => block < blocksOf(stored));
  const roots = wanted.map((place) => ({ level: BLOCK_LEVEL, place }));
  const nodes = new Map(await readNodes(trx, deploymentId, [...parts.flat().filter(isStored), ...roots]));
  for (const block of blocks) {
    const leaves = block * BLOCK_LEAVES === stored ? rest : await readBlock(trx, deploymentId, block, nodes);
    for (const { level, place } of small.filter((one) => blocksOf(one.place * 2 ** one.level) === block)) {
      const start = place * 2 ** level - block * BLOCK_LEAVES;
      const [root] = levelsOver(leaves.slice(start, start + 2 ** level)).at(-1) ?? [];
      if (root !== undefined) nodes.set(keyOf({ level, place }), root);
    }
  }
  return parts.map((subtrees) => rootOver(subtrees.map((subtree) => nodeIn(nodes, subtree))));
}

/** @throws `history_broken` where the entries are no longer those that the stored tree was made of */
async function readBlock(
  db: Db,
  deploymentId: number,
  block: number,
  nodes: Nodes,
): Promise<readonly Node[]> {
  const range = { start: block * BLOCK_LEAVES, end: (block + 1) * BLOCK_LEAVES };
  const { leaves } = await readLeaves(db, deploymentId, range);
  const [root] = levelsOver(leaves).at(-1) ?? [];
  if (root?.equals(nodeIn(nodes, { level: BLOCK_LEVEL, place: block })) !== true) throw broken(range);
  return leaves;
}

/** A journal whose tree lacks at least a block, and where a page of them ends. */
export interface UngrownTree {
  readonly deploymentId: number;
  readonly entries: number;
  readonly minute: number;
}

/** A page of these journals among those that had an entry since a minute, in the order of their last ones. */
export async function ungrownTrees(
  db: Db,
  { minute, deploymentId }: Pick<UngrownTree, 'minute' | 'deploymentId'>,
  limit: number,
): Promise<UngrownTree[]> {
  const { rows } = await sql<UngrownTree>`
    select h.deployment_id as "deploymentId", h.seq as entries, h.active_minute as minute
    from journal_heads h left join merkle_heads t on t.deployment_id = h.deployment_id
    where (h.active_minute, h.deployment_id) > (${minute}, ${deploymentId})
      and h.seq - coalesce(t.size, 0) >= ${BLOCK_LEAVES}
    order by h.active_minute, h.deployment_id limit ${limit}`.execute(db);
  return rows;
}
