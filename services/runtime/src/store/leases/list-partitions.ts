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
  /** What this database has of it; nulls where it lives in another one. */
  readonly here: {
    readonly generation: number;
    /** The process that holds it. */
    readonly owner: string | null;
    /** Of all deployments, deleted ones too. */
    readonly journals: number;
    readonly entries: number;
  } | null;
}

/** All partitions, with what this database has of those that live in it. It reads the heads of all journals. */
export async function listPartitions(db: Db, directory: DirectoryDb): Promise<PartitionRow[]> {
  const id = await databaseId(db);
  const named = await directory
    .selectFrom('homes')
    .innerJoin('databases', 'databases.id', 'homes.database')
    .select(['partition', 'generation', 'database', 'name'])
    .execute();
  const homes = new Map(named.map((home) => [home.partition, home]));
  const { rows } = await sql<NonNullable<PartitionRow['here']> & { partition: number }>`
    select p.id as partition, p.generation, case when p.expires_at > now() then p.owner end as owner,
      coalesce(j.journals, 0) as journals, coalesce(j.entries, 0) as entries
    from partitions p left join (
      select deployment_id % ${PARTITIONS} as partition, count(*) as journals, sum(seq)::bigint as entries
      from journal_heads group by 1
    ) j on j.partition = p.id order by p.id`.execute(db);
  return rows.map(({ partition, ...here }) => {
    const home = homes.get(partition);
    const isHere = here.generation > 0 && (home === undefined || home.database === id);
    const { name = null, generation = null } = home ?? {};
    return { partition, home: name, generation, here: isHere ? here : null };
  });
}
