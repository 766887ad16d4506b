import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import { databaseId } from './homes.js';
import { PARTITIONS } from './leases.js';

/** A partition as the directory and one database have it, for an operator. */
export interface PartitionRow {
  readonly partition: number;
  /** The database in which it lives, by the directory; null where that names none. */
  readonly home: string | null;
  /** By the directory. */
  readonly generation: number | null;
  /** The names of the databases of a move that is under way, or of which rows are left; null without one. */
  readonly move: { readonly from: string; readonly to: string } | null;
  /** What this database has of it; nulls where it lives in another one. */
  readonly here: {
    readonly generation: number;
    /** The process that holds it. */
    readonly owner: string | null;
    /** Of all deployments, deleted ones too. */
    readonly journals: number;
    readonly entries: number;
    /** Entries of the last hour. */
    readonly perHour: number;
  } | null;
}

/** All partitions, with what this database has of those that live in it. It reads the heads of all journals. */
export async function listPartitions(db: Db, directory: DirectoryDb): Promise<PartitionRow[]> {
  const id = await databaseId(db);
  const homes = new Map((await readHomes(directory)).map((home) => [home.partition, home]));
  const moves = new Map(
    (await readMoves(directory)).map(({ partition, ...move }) => [partition, move] as const),
  );
  return (await readHere(db)).map(({ partition, ...here }) => {
    const home = homes.get(partition);
    const isHere = here.generation > 0 && (home === undefined || home.database === id);
    const { name = null, generation = null } = home ?? {};
    const move = moves.get(partition) ?? null;
    return { partition, home: name, generation, move, here: isHere ? here : null };
  });
}

const readHomes = (directory: DirectoryDb) =>
  directory
    .selectFrom('homes')
    .innerJoin('databases', 'databases.id', 'homes.database')
    .select(['partition', 'generation', 'database', 'name'])
    .execute();

const readMoves = (directory: DirectoryDb) =>
  directory
    .selectFrom('moves')
    .innerJoin('databases as s', 's.id', 'moves.source')
    .innerJoin('databases as t', 't.id', 'moves.target')
    .select(['partition', 's.name as from', 't.name as to'])
    .execute();

type Here = NonNullable<PartitionRow['here']> & { readonly partition: number };

/** What is older than an hour ends where halving a journal finds it: times never fall within one. */
async function readHere(db: Db): Promise<readonly Here[]> {
  const { rows } = await sql<Here>`
    with recursive search (deployment_id, low, high) as (
      select deployment_id, 0::bigint, seq from journal_heads
      where active_minute >= floor(extract(epoch from now()) / 60)::integer - 60
      union all
      select s.deployment_id, case when j.is_old then s.middle else s.low end,
        case when j.is_old then s.high else s.middle - 1 end
      from (select deployment_id, low, high, (low + high + 1) / 2 as middle from search where low < high) s
      cross join lateral (
        select executed_at < now() - interval '1 hour' as is_old
        from journal where deployment_id = s.deployment_id and seq = s.middle
      ) j
    ), old as (select deployment_id, max(low) as seq from search group by 1)
    select p.id as partition, p.generation, case when p.expires_at > now() then p.owner end as owner,
      coalesce(j.journals, 0) as journals, coalesce(j.entries, 0) as entries, coalesce(j.lately, 0) as "perHour"
    from partitions p left join (
      select h.deployment_id % ${PARTITIONS} as partition, count(*) as journals, sum(h.seq)::bigint as entries,
        sum(h.seq - old.seq)::bigint as lately
      from journal_heads h left join old on old.deployment_id = h.deployment_id group by 1
    ) j on j.partition = p.id order by p.id`.execute(db);
  return rows;
}
