import { transaction } from '@orrery/database';
import { createSemaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import { addBlock, BLOCK_LEAVES, type StoredNode, subtreesOf } from '../../core/merkle/merkle-tree.js';
import type { Db, Trx } from '../tables/schema.js';
import {
  blocksOf,
  EMPTY,
  headAfter,
  nodeIn,
  readLeaves,
  readNodes,
  type StoredHead,
  treeHead,
} from './merkle-rows.js';

/** Blocks that one transaction adds: about 10 ms of this process. */
const BLOCKS_AT_ONCE = 16;
/** Trees that are computed at once: long journals leave connections for others. */
const COMPUTED_AT_ONCE = 2;
const MAX_WAITING = 1000;

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

async function readEdge(db: Db, deploymentId: number, size: number): Promise<StoredNode[]> {
  const subtrees = subtreesOf({ start: 0, end: size });
  const nodes = await readNodes(db, deploymentId, subtrees);
  return subtrees.map((subtree) => ({ ...subtree, node: nodeIn(nodes, subtree) }));
}

const insertNodes = (trx: Trx, deploymentId: number, nodes: readonly StoredNode[]) =>
  sql`
    insert into merkle_nodes (deployment_id, level, place, node, parts)
    select ${deploymentId}::bigint, level, place, decode(node, 'hex'), decode(parts, 'hex')
    from unnest(${nodes.map(({ level }) => level)}::smallint[], ${nodes.map(({ place }) => place)}::bigint[],
      ${nodes.map(({ node }) => node.toString('hex'))}::text[],
      ${nodes.map(({ parts }) => parts?.toString('hex') ?? null)}::text[]) n (level, place, node, parts)`.execute(
    trx,
  );

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
    from journal_heads h join deployments d on d.id = h.deployment_id left join merkle_heads t on t.deployment_id = h.deployment_id
    where (h.active_minute, h.deployment_id) > (${minute}, ${deploymentId})
      and h.seq - coalesce(t.size, 0) >= ${BLOCK_LEAVES}
    order by h.active_minute, h.deployment_id limit ${limit}`.execute(db);
  return rows;
}
