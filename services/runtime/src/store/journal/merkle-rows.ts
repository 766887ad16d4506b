import { ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import type { LostEnd } from '../../core/merkle/checkpoint.js';
import {
  BLOCK_LEAVES,
  type Leaves,
  leafOf,
  type Node,
  type StoredNode,
  type Subtree,
} from '../../core/merkle/merkle-tree.js';
import type { Db } from '../tables/schema.js';

export const blocksOf = (entries: number): number => Math.floor(entries / BLOCK_LEAVES);

export interface StoredHead {
  readonly size: number;
  readonly generation: number;
  readonly lost: LostEnd | null;
}

export const EMPTY: StoredHead = { size: 0, generation: 1, lost: null };

export async function treeHead(db: Db, deploymentId: number): Promise<StoredHead> {
  const { rows } = await sql<StoredHead>`
    select size, generation, lost from merkle_heads where deployment_id = ${deploymentId}`.execute(db);
  return rows[0] ?? EMPTY;
}

export const headAfter = ({ generation, lost }: StoredHead, size: number, read: ReadLeaves): StoredHead => ({
  size,
  generation: generation + read.losses,
  lost: read.lost ?? lost,
});

export interface ReadLeaves {
  readonly leaves: readonly Node[];
  /** How many entries `tail_lost` are among them, and what the last of these names. */
  readonly losses: number;
  readonly lost: LostEnd | null;
}

export const HASH_BYTES = 32;

/** What is read of the entries of a journal `j` to make leaves of them. */
export const LEAVES = sql`
  string_agg(j.hash, '' order by j.seq) as hashes, count(*) filter (where j.kind = 'tail_lost')::integer as losses,
  (array_agg(j.input order by j.seq desc) filter (where j.kind = 'tail_lost'))[1] as "lostSince"`;

export interface LeavesRow {
  readonly hashes: string | null;
  readonly losses: number;
  readonly lostSince: LostEnd | null;
}

/** @throws `history_broken` where one of the entries is missing */
export async function readLeaves(db: Db, deploymentId: number, { start, end }: Leaves): Promise<ReadLeaves> {
  const { rows } = await sql<LeavesRow>`
    select ${LEAVES} from journal j
    where j.deployment_id = ${deploymentId} and j.seq > ${start} and j.seq <= ${end}`.execute(db);
  return leavesIn(rows[0], { start, end });
}

export function leavesIn(row: LeavesRow | undefined, { start, end }: Leaves): ReadLeaves {
  const { hashes, losses = 0, lostSince: lost = null } = row ?? {};
  const bytes = Buffer.from(hashes ?? '', 'hex');
  if (bytes.length !== (end - start) * HASH_BYTES) throw broken({ start, end });
  return { leaves: split(bytes).map(leafOf), losses, lost };
}

export const split = (bytes: Buffer): Node[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );

export const broken = ({ start, end }: Leaves): ServiceError =>
  new ServiceError(
    'history_broken',
    `The journal no longer holds what its Merkle tree was made of, somewhere in entries ${start + 1} to ${end}. ` +
      'GET …/history/verify checks all of it.',
  );

export type Nodes = ReadonlyMap<string, StoredNode>;
export const keyOf = ({ level, place }: Subtree): string => `${level}:${place}`;
export const byKey = (nodes: readonly StoredNode[]): [string, StoredNode][] =>
  nodes.map((one) => [keyOf(one), one]);

export function nodeIn(nodes: Nodes, subtree: Subtree): Node {
  const found = nodes.get(keyOf(subtree));
  const leaves = 2 ** subtree.level;
  if (found === undefined) throw broken({ start: subtree.place * leaves, end: (subtree.place + 1) * leaves });
  return found.node;
}

export async function readNodes(db: Db, deploymentId: number, subtrees: readonly Subtree[]): Promise<Nodes> {
  if (subtrees.length === 0) return new Map();
  const { rows } = await sql<StoredNode>`
    select t.level, t.place, t.node, t.parts
    from unnest(${subtrees.map(({ level }) => level)}::smallint[], ${subtrees.map(({ place }) => place)}::bigint[])
      n (level, place)
    join merkle_nodes t on t.deployment_id = ${deploymentId} and t.level = n.level and t.place = n.place`.execute(
    db,
  );
  return new Map(byKey(rows));
}
