import type { JsonObject, JsonValue } from '@orrery/contracts';
import { MAX_GROUPS } from '@orrery/contracts';
import { type Condition, ORDERED_CHARACTERS, orderValues } from '@orrery/expressions';
import { type RawBuilder, sql } from 'kysely';
import { type Aggregation, createGathering, type Group, measured } from '../../../core/queries/aggregate.js';
import { type Place, tooManyGroups } from '../../../core/queries/read-query.js';
import type { Db, Trx } from '../../tables/schema.js';
import { type InstancePath, type InstanceRow, instanceNotFound } from '../instance-store.js';
import { splitCondition, valueSql } from './condition-sql.js';
import { type IndexedQuery, indexedPageSql, indexedRankSql } from './indexed-order.js';
import { besideSql, orderSql } from './order-sql.js';
import type { SourcedQuery } from './query-source.js';
import type { QueryWork } from './query-work.js';

export interface QueriedPage {
  readonly limit: number;
  /** The last instance of the page before. */
  readonly after: Place | undefined;
}

const COLUMNS = sql.raw(
  'i.id, i.entity_schema as "entitySchema", i.instance_id as "instanceId", i.state, i.revision, ' +
    'i.created_at as "createdAt", i.updated_at as "updatedAt"',
);

const from = ({ source }: SourcedQuery, test: RawBuilder<boolean>) => sql`from ${source} where ${test}`;

const hasIndex = (query: SourcedQuery): query is IndexedQuery => query.inOrder !== undefined;

/** A page, and one instance more if there is one. */
export async function queryPage(
  db: Db,
  query: SourcedQuery,
  { limit, after }: QueriedPage,
  work: QueryWork,
): Promise<InstanceRow[]> {
  const { exact, rest } = splitCondition(query.condition);
  if (hasIndex(query) && rest.length === 0) {
    const test = query.condition && exact;
    const page = indexedPageSql(query, COLUMNS, { test, limit: limit + 1, after });
    return (await sql<InstanceRow>`${page}`.execute(db)).rows;
  }
  const test =
    after === undefined ? exact : sql<boolean>`${exact} and ${besideSql(query.order, after, 'after')}`;
  if (rest.length > 0) return scanned(db, query, { test, rest, enough: limit + 1 }, work);
  const { rows } = await sql<InstanceRow>`
    select ${COLUMNS} ${from(query, test)} order by ${orderSql(query.order)} limit ${limit + 1}`.execute(db);
  return rows;
}

/** How many instances satisfy the condition. */
export async function queryCount(db: Db, query: SourcedQuery, work: QueryWork): Promise<number> {
  const { exact, rest } = splitCondition(query.condition);
  if (rest.length > 0) {
    let count = 0;
    await scan(db, { ...query, order: [] }, { test: exact, rest }, work, (found) => {
      count += found.length;
      return true;
    });
    return count;
  }
  const { rows } = await sql<{ count: number }>`select count(*) as count ${from(query, exact)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** What is evaluated of the instances for which `test` is true. */
interface Scan {
  readonly test: RawBuilder<boolean>;
  readonly rest: readonly Condition[];
}

async function scanned(
  db: Db,
  query: SourcedQuery,
  { enough, ...which }: Scan & { readonly enough: number },
  work: QueryWork,
): Promise<InstanceRow[]> {
  const rows: InstanceRow[] = [];
  await scan(db, query, which, work, (found) => {
    rows.push(...found);
    return rows.length < enough;
  });
  return rows.slice(0, enough);
}

/** States have up to 64 KiB. */
const AT_ONCE = 200;

/**
 * Goes through the instances in the query's order, and gives those that satisfy the rest, until `take` wants no more. They
 * are sorted without their states, and read as of one moment.
 */
async function scan(
  db: Db,
  query: SourcedQuery,
  { test, rest }: Scan,
  work: QueryWork,
  take: (found: readonly InstanceRow[]) => boolean,
): Promise<void> {
  const { deploymentId, entitySchema, order } = query;
  const inOrder = sql`order by ${orderSql(order)}`;
  const statement =
    order.length === 0
      ? sql`select ${COLUMNS} ${from(query, test)} ${inOrder}`
      : sql`select i.* from (select i.instance_id ${from(query, test)} ${inOrder}) o
          cross join lateral (select ${COLUMNS} from instances i where i.deployment_id = ${deploymentId}
            and i.entity_schema = ${entitySchema} and i.instance_id = o.instance_id offset 0) i`;
  await db.transaction().execute(async (trx: Trx) => {
    await sql`declare found no scroll cursor for ${statement}`.execute(trx);
    for (;;) {
      const { rows } = await sql<InstanceRow>`fetch ${sql.lit(AT_ONCE)} from found`.execute(trx);
      const wantsMore = take(await work.filter(rows, rest));
      if (!wantsMore || rows.length < AT_ONCE) return;
    }
  });
}

interface Rank {
  readonly rank: number;
  readonly total: number;
}

/** The place of an instance, and how many there are, both at one moment. @throws `entity_instance_not_found` */
export const queryRank = (db: Db, query: SourcedQuery, path: InstancePath): Promise<Rank> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((trx) => rankOf(trx, query, path));

async function rankOf(db: Trx, query: SourcedQuery, path: InstancePath): Promise<Rank> {
  const { deploymentId, entitySchema, order } = query;
  const { instanceId } = path;
  const { rows: own } = await sql<{ state: JsonObject }>`
    select state from instances where deployment_id = ${deploymentId}
      and entity_schema = ${entitySchema} and instance_id = ${instanceId}`.execute(db);
  if (own[0] === undefined) throw instanceNotFound(path);
  const place = { id: instanceId, values: orderValues(order, instanceId, own[0].state) };
  if (hasIndex(query)) {
    const found = await indexedRankSql(query, place).execute(db);
    return { rank: (found.rows[0]?.before ?? 0) + 1, total: found.rows[0]?.total ?? 0 };
  }
  const { rows } = await sql<{ before: number; total: number }>`
    select count(*) filter (where ${besideSql(order, place, 'before')}) as before, count(*) as total
    ${from(query, sql`true`)}`.execute(db);
  return { rank: (rows[0]?.before ?? 0) + 1, total: rows[0]?.total ?? 0 };
}

interface GatheredRow {
  readonly values: JsonValue[];
  readonly count: number;
  readonly gathered: [string | null, number, number | null, string | null, number | null, string | null][];
}

/** The groups of the instances that satisfy the condition. @throws `query_too_costly` for too many */
export async function queryGroups(
  db: Db,
  query: SourcedQuery,
  aggregation: Aggregation,
  work: QueryWork,
): Promise<Group[]> {
  const { exact, rest } = splitCondition(query.condition);
  if (rest.length > 0) {
    const gathering = createGathering(aggregation);
    await scan(db, { ...query, order: [] }, { test: exact, rest }, work, (found) => {
      for (const { state } of found) gathering.add(state);
      if (gathering.size() > MAX_GROUPS) throw tooManyGroups();
      return true;
    });
    return gathering.groups();
  }
  const keys = aggregation.groupBy.map(({ path }) => {
    const value = sql`(${valueSql(path)})`;
    return sql`case jsonb_typeof(${value}) when 'string' then to_jsonb(left(${value} #>> '{}', ${sql.lit(ORDERED_CHARACTERS)}))
      when 'number' then ${value} when 'boolean' then ${value} end`;
  });
  const names = keys.map((_, at) => sql.ref(`g${at}`));
  const grouping = keys.length === 0 ? sql`` : sql`group by ${sql.join(names)}`;
  const named = keys.map((key, at) => sql`, ${key} as ${sql.ref(`g${at}`)}`);
  const { rows } = await sql<GatheredRow>`
    select jsonb_build_array(${sql.join(names)}) as values, count(*) as count,
      jsonb_build_array(${sql.join(measured(aggregation).map(({ path }) => gatheredSql(path)))}) as gathered
    from (select i.state ${sql.join(named, sql``)} ${from(query, exact)}) i
    ${grouping} limit ${MAX_GROUPS + 1}`.execute(db);
  if (rows.length > MAX_GROUPS) throw tooManyGroups();
  return rows.map(({ values, count, gathered }) => ({
    values,
    count,
    gathered: gathered.map(([sum, numbers, leastNumber, leastText, mostNumber, mostText]) => ({
      sum,
      numbers,
      least: { number: leastNumber, text: leastText },
      most: { number: mostNumber, text: mostText },
    })),
  }));
}

/** The members of `Gathered` in a list: a sum may have more digits than a number of JSON. */
function gatheredSql(path: readonly string[]): RawBuilder<unknown> {
  const value = sql`(${valueSql(path)})`;
  const number = sql`case jsonb_typeof(${value}) when 'number' then ${value}::numeric end`;
  const text = sql`(case jsonb_typeof(${value}) when 'string' then left(${value} #>> '{}', ${sql.lit(ORDERED_CHARACTERS)}) end collate "C")`;
  return sql`jsonb_build_array(sum(${number})::text, count(${number}), min(${number}), min(${text}), max(${number}), max(${text}))`;
}
