import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import type { MoveNews } from './move-news.js';

/** Rows that are read at once, as JSON; keys that one statement looks through; definitions whose names are compared. */
const AT_ONCE = 500;
const KEYS = 1000;
const NAMES = 5000;

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
const keysOf = (partition: number) => sql`${OF_DEPLOYMENT} % 64 = ${partition}`;

/**
 * The keys of a partition from a time on that are there now, as conditions that each look through some rows: nothing says in an
 * index to which deployment a key belongs. They go by the time of a key, which never changes. Keys of other partitions, which go
 * on arriving, would else keep it going.
 */
export async function* keysInSteps(db: Db, partition: number, from: string, rows = KEYS) {
  const { rows: newest } = await sql<{ until: string | null }>`
    select max(created_at)::text as until from idempotency_keys`.execute(db);
  const until = newest[0]?.until;
  for (let after = from; until; ) {
    const { rows: found } = await sql<{ last: string | null }>`
      select max(created_at)::text as last from (
        select created_at from idempotency_keys
        where created_at > ${after}::timestamptz and created_at <= ${until}::timestamptz
        order by created_at limit ${rows}
      ) page`.execute(db);
    const last = found[0]?.last;
    if (!last) return;
    yield sql`created_at > ${after}::timestamptz and created_at <= ${last}::timestamptz and ${keysOf(partition)}`;
    after = last;
  }
}

/** What versions said that were executed here, where the target has not heard of it. Nothing of it ever changes. */
export async function carryDefinitions({ source, target, partition }: Both): Promise<void> {
  for await (const names of definitionNames(source, partition)) {
    const missing = await missingAt(target, names);
    for (let first = 0; first < missing.length; first += AT_ONCE)
      await copyDefinitions(source, target, missing.slice(first, first + AT_ONCE));
  }
}

interface DefinitionName {
  readonly world: number;
  readonly hash: string;
}

const worldsOf = async (source: Db, partition: number): Promise<number[]> => {
  const { rows } = await sql<{ world: number }>`
    select world_id as world from deployments where id % 64 = ${partition} union
    select (row->>'world_id')::bigint from departed_deployments where id % 64 = ${partition}`.execute(source);
  return rows.map(({ world }) => world);
};

async function* definitionNames(source: Db, partition: number): AsyncGenerator<DefinitionName[]> {
  const worlds = await worldsOf(source, partition);
  for (let last: DefinitionName = { world: 0, hash: '' }; ; ) {
    const { rows } = await sql<DefinitionName>`
      select world_id as world, hash from definitions
      where world_id = any(${worlds}) and (world_id, hash) > (${last.world}, ${last.hash})
      order by world_id, hash limit ${NAMES}`.execute(source);
    const next = rows.at(-1);
    if (next === undefined) return;
    yield rows;
    last = next;
  }
}

const named = (names: readonly DefinitionName[]) =>
  sql`jsonb_to_recordset(cast(${JSON.stringify(names)} as jsonb)) as n (world bigint, hash text)`;

async function missingAt(target: Db, names: readonly DefinitionName[]): Promise<DefinitionName[]> {
  const { rows } = await sql<DefinitionName>`
    select n.world, n.hash from ${named(names)} where not exists (
      select from definitions d where d.world_id = n.world and d.hash = n.hash)`.execute(target);
  return rows;
}

async function copyDefinitions(source: Db, target: Db, names: readonly DefinitionName[]): Promise<void> {
  const { rows } = await sql<{ rows: string | null }>`
    select json_agg(d)::text as rows from ${named(names)}
    join definitions d on d.world_id = n.world and d.hash = n.hash`.execute(source);
  await put(target, 'definitions', rows[0]?.rows, sql`do nothing`);
}

/** Answers of keyed requests: all, or those since a time of the source. A key that has expired may have been used again. */
export async function carryKeys(
  { source, target, partition }: Both,
  since?: Date,
  onNews?: (news: MoveNews) => void,
): Promise<void> {
  const { rows: start } = await sql<{ from: string }>`
    select coalesce(${since ?? null}::timestamptz - ${LATE}, '-infinity')::text as from`.execute(source);
  const update = sql`(account_id, operation, key) do update
    set request_hash = excluded.request_hash, reply = excluded.reply, created_at = excluded.created_at`;
  let keys = 0;
  for await (const some of keysInSteps(source, partition, start[0]?.from ?? '-infinity')) {
    const { rows } = await sql<{ rows: string | null; count: number }>`
      select json_agg(t)::text as rows, count(*)::int as count from idempotency_keys t where ${some}`.execute(
      source,
    );
    await put(target, 'idempotency_keys', rows[0]?.rows, update);
    keys += rows[0]?.count ?? 0;
    onNews?.({ kind: 'keys_carried', keys });
  }
}

/** How far occurrences of schedules are acknowledged, of deployments that are leaving. */
export async function carryAcknowledged({ source, target, partition }: Both): Promise<void> {
  const update = sql`(deployment, event, kind) do update
    set until = greatest(acknowledged_occurrences.until, excluded.until)`;
  for await (const page of departing({ source, partition })) {
    const { rows } = await sql<{ rows: string | null }>`
      select json_agg(t)::text as rows from acknowledged_occurrences t
      where deployment in (select d->>'address' from json_array_elements(cast(${page} as json)) d)`.execute(
      source,
    );
    await put(target, 'acknowledged_occurrences', rows[0]?.rows, update);
  }
}

/** Rows in JSON. */
async function put(
  target: Db,
  table: string,
  rows: string | null | undefined,
  onConflict: ReturnType<typeof keysOf>,
): Promise<void> {
  if (!rows) return;
  await sql`
    insert into ${sql.table(table)} select * from json_populate_recordset(null::${sql.table(table)}, cast(${rows} as json))
    on conflict ${onConflict}`.execute(target);
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
