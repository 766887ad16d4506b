import type { Condition, OrderKey } from '@orrery/expressions';
import { type RawBuilder, sql } from 'kysely';
import { type AttributeIndex, completeIndexes } from '../../state/attribute-indexes.js';
import type { Db } from '../../tables/schema.js';
import { type IndexRange, rangesOf } from './index-ranges.js';

/** Which instances of a schema are asked for, and in which order. */
export interface InstanceQuery {
  readonly deploymentId: number;
  readonly entitySchema: string;
  readonly condition: Condition | undefined;
  readonly order: readonly OrderKey[];
}

/** A query with where its instances are looked for. */
export interface SourcedQuery extends InstanceQuery {
  /** A FROM list with the instances `i`, and others that do not satisfy the condition. */
  readonly source: RawBuilder<unknown>;
  /** The index in whose order the instances are to be found, with what of it the condition leaves over. */
  readonly inOrder: IndexRange | undefined;
}

/** Instances that an index leaves over: looking up so many one by one takes less than to go through all. */
const MOST_NARROWED = 10_000;

/** Chooses how the instances are found: of the schema, of a range of an index, or in the order of one. */
export async function sourced(
  db: Db,
  query: InstanceQuery,
  { usesIndexes = true }: { readonly usesIndexes?: boolean } = {},
): Promise<SourcedQuery> {
  const { deploymentId, entitySchema, condition, order } = query;
  const plain = sql`(select * from instances where deployment_id = ${deploymentId} and entity_schema = ${entitySchema}) i`;
  if (!usesIndexes) return { ...query, source: plain, inOrder: undefined };
  const indexes = await completeIndexes(db, deploymentId, entitySchema);
  const ranges = rangesOf(condition, indexes);
  const ordering = indexOfOrder(order, indexes);
  const narrow = await narrowest(
    db,
    ranges.filter(({ index }) => index !== ordering),
  );
  if (narrow !== undefined)
    return {
      ...query,
      source: sql`${rowsOf(narrow)} o cross join lateral ${instanceOf(query)}`,
      inOrder: undefined,
    };
  const range = ranges.find(({ index }) => index === ordering)?.range ?? sql<boolean>`true`;
  return { ...query, source: plain, inOrder: ordering && { index: ordering, range } };
}

function indexOfOrder([first]: readonly OrderKey[], indexes: readonly AttributeIndex[]) {
  const path = first?.path;
  if (path?.length !== 1) return undefined;
  return indexes.find(({ attribute }) => attribute === path[0]);
}

/** The rows `o` of an index; without the second test PostgreSQL would not read them in their order. */
export const inIndex = ({ id }: AttributeIndex): RawBuilder<boolean> =>
  sql`o.index_id = ${id} and o.kind >= 0`;

const rowsOf = ({ index, range }: IndexRange): RawBuilder<unknown> =>
  sql`(select o.instance_id from indexed_values o where ${inIndex(index)} and ${range})`;

/** The instance of a row `o` of an index, as `i`: looked up by its key. */
export const instanceOf = ({ deploymentId, entitySchema }: InstanceQuery): RawBuilder<unknown> =>
  sql`(select * from instances where deployment_id = ${deploymentId} and entity_schema = ${entitySchema}
    and instance_id = o.instance_id offset 0) i`;

/** The range with the fewest rows, unless each has too many. */
async function narrowest(db: Db, ranges: readonly IndexRange[]): Promise<IndexRange | undefined> {
  let found: { readonly range: IndexRange; readonly rows: number } | undefined;
  for (const range of ranges) {
    const most = found?.rows ?? MOST_NARROWED;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from (select from ${rowsOf(range)} o limit ${most + 1}) o`.execute(db);
    const count = rows[0]?.count ?? 0;
    if (count <= most) found = { range, rows: count };
  }
  return found?.range;
}
