import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../tables/schema.js';

/** Rows that are read at once, as JSON. */
const AT_ONCE = 500;

interface Both {
  readonly source: Db;
  readonly target: Db;
  readonly partition: number;
}

/** Numbers of deployments that names of keyed requests end with (`execute 12`); creations name worlds. */
const OF_DEPLOYMENT = sql`case when operation !~ '^create \\S+$' then substring(operation from ' (\\d{1,15})$')::bigint end`;
/** How much later a key may become visible than its time says. */
const LATE = sql`interval '10 minutes'`;

/** The keys of requests to deployments of a partition. */
export const keysOf = (partition: number) => sql`${OF_DEPLOYMENT} % 64 = ${partition}`;

/** What versions said that were executed here, where the target has not heard of it. Nothing of it ever changes. */
export async function carryDefinitions({ source, target, partition }: Both): Promise<void> {
  const { rows: known } = await sql<{ names: string }>`
    select coalesce(jsonb_agg(world_id || ' ' || hash), '[]')::text as names from definitions`.execute(
    target,
  );
  const missing = sql`definitions t where world_id in (
      select world_id from deployments where id % 64 = ${partition} union
      select (row->>'world_id')::bigint from departed_deployments where id % 64 = ${partition})
    and not cast(${known[0]?.names ?? '[]'} as jsonb) ? (world_id || ' ' || hash)`;
  await carry(source, target, 'definitions', missing, sql`do nothing`);
}

/** Answers of keyed requests: all, or those since a time of the source. A key that has expired may have been used again. */
export async function carryKeys({ source, target, partition }: Both, since?: Date): Promise<void> {
  const later = since === undefined ? sql`` : sql`and created_at > ${since}::timestamptz - ${LATE}`;
  const update = sql`(account_id, operation, key) do update
    set request_hash = excluded.request_hash, reply = excluded.reply, created_at = excluded.created_at`;
  await carry(
    source,
    target,
    'idempotency_keys',
    sql`idempotency_keys t where ${keysOf(partition)} ${later}`,
    update,
  );
}

/** How far occurrences of schedules are acknowledged, of deployments that are leaving. */
export async function carryAcknowledged({ source, target, partition }: Both): Promise<void> {
  const rows = sql`acknowledged_occurrences t where deployment in (
    select row->>'address' from departed_deployments where id % 64 = ${partition})`;
  const update = sql`(deployment, event, kind) do update
    set until = greatest(acknowledged_occurrences.until, excluded.until)`;
  await carry(source, target, 'acknowledged_occurrences', rows, update);
}

async function carry(
  source: Db,
  target: Db,
  table: string,
  rows: RawBuilder<unknown>,
  onConflict: RawBuilder<unknown>,
): Promise<void> {
  // Pages by the place of a row: rows that move meanwhile are newer and come again.
  for (let after = '(0,0)'; ; ) {
    const page = await readPage(source, sql`${rows} and t.ctid > ${after}::tid`);
    if (page === undefined) return;
    after = page.last;
    await sql`
      insert into ${sql.table(table)} select * from json_populate_recordset(null::${sql.table(table)}, cast(${page.rows} as json))
      on conflict ${onConflict}`.execute(target);
  }
}

/** The first rows as they are, and the place of the last one. */
async function readPage(
  source: Db,
  from: RawBuilder<unknown>,
): Promise<{ readonly rows: string; readonly last: string } | undefined> {
  const { rows } = await sql<{ rows: string | null; last: string }>`
    select json_agg(row)::text as rows, max(place)::text as last from (
      select to_json(t) as row, t.ctid as place from ${from} order by t.ctid limit ${AT_ONCE}) p`.execute(
    source,
  );
  const [page] = rows;
  return page?.rows ? { rows: page.rows, last: page.last } : undefined;
}

/** The deployments that are leaving, in pages, each as the rows of `deployments` in JSON. */
export async function* departing({ source, partition }: Omit<Both, 'target'>): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const { rows } = await sql<{ rows: string | null; last: number }>`
      select json_agg(row)::text as rows, max(id) as last from (
        select id, row from departed_deployments where id % 64 = ${partition} and id > ${after}
        order by id limit ${AT_ONCE}) p`.execute(source);
    const [page] = rows;
    if (!page?.rows) return;
    after = page.last;
    yield page.rows;
  }
}
