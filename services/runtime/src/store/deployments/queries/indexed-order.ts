import type { OrderKey } from '@orrery/expressions';
import { type RawBuilder, sql } from 'kysely';
import { indexedValue, MISSING } from '../../../core/queries/indexed-value.js';
import type { Place } from '../../../core/queries/read-query.js';
import { besideSql, orderSql } from './order-sql.js';
import { inIndex, instanceOf, type SourcedQuery } from './query-source.js';

type Test = RawBuilder<boolean>;

/** A query in whose order an index lies. */
export type IndexedQuery = SourcedQuery & { readonly inOrder: NonNullable<SourcedQuery['inOrder']> };

/**
 * A page by the index: those that tie with the place behind which it begins, those behind them, and those without a value,
 * which are last in both directions. Each part is read only if the ones before it are not enough.
 */
export function indexedPageSql(
  query: IndexedQuery,
  columns: RawBuilder<unknown>,
  {
    test,
    limit,
    after,
  }: { readonly test: Test | undefined; readonly limit: number; readonly after: Place | undefined },
): RawBuilder<unknown> {
  const shape = shapeOf(query, test);
  const place = after && indexedValue(after.values[0] ?? null);
  const isMissing = place?.kind === MISSING;
  const beside = after === undefined ? NONE : shape.beside(after, 'after');
  const ties = place === undefined || isMissing ? NONE : sql<boolean>`${tied(place)} and ${beside}`;
  const behind =
    place === undefined ? HAS_VALUE : sql<boolean>`${HAS_VALUE} and ${shape.passed(place, 'after')}`;
  const missing = isMissing ? sql<boolean>`${IS_MISSING} and ${beside}` : IS_MISSING;
  const part = (where: Test, before: readonly string[]) => {
    const counts = before.map((name) => sql`(select count(*) from ${sql.raw(name)})`);
    const isNeeded = before.length === 0 ? sql`true` : sql`${sql.join(counts, sql` + `)} < ${limit}`;
    return sql`(${shape.select} and ${where} and ${isNeeded} order by ${shape.order} limit ${limit})`;
  };
  return sql`
    with ties as materialized ${part(ties, [])},
    behind as materialized ${part(isMissing ? NONE : behind, ['ties'])},
    missing as materialized ${part(missing, ['ties', 'behind'])}
    select ${columns} from (
      select 0 as part, * from ties union all select 1, * from behind union all select 2, * from missing
    ) o cross join lateral ${instanceOf(query)}
    order by o.part, ${shape.direction}, ${shape.rest} limit ${limit}`;
}

/** How many stand before the place, and how many there are. */
export function indexedRankSql(
  query: IndexedQuery,
  place: Place,
): RawBuilder<{ before: number; total: number }> {
  const shape = shapeOf(query, undefined);
  const value = indexedValue(place.values[0] ?? null);
  const passed =
    value.kind === MISSING ? HAS_VALUE : sql<boolean>`${HAS_VALUE} and ${shape.passed(value, 'before')}`;
  const ties = sql<boolean>`${tied(value)} and ${shape.beside(place, 'before')}`;
  return sql`select count(*) filter (where ${passed}) + (select count(*) from (${shape.select} and ${ties}) o) as before,
    count(*) as total from indexed_values o where ${inIndex(query.inOrder.index)}`;
}

const NONE: Test = sql`false`;
const HAS_VALUE: Test = sql`o.kind < ${sql.lit(MISSING)}`;
const IS_MISSING: Test = sql`o.kind = ${sql.lit(MISSING)}`;

type Value = ReturnType<typeof indexedValue>;

const tied = ({ kind, number, text }: Value): Test =>
  sql`(o.kind = ${sql.lit(kind)} and o.number = ${number}::float8 and o.text = ${text}::text)`;

/** The parts of statements over rows `o` of the index, with their instances `i` only where those are needed. */
function shapeOf(query: IndexedQuery, test: Test | undefined) {
  const { index, range } = query.inOrder;
  const [first, ...rest] = query.order as [OrderKey, ...OrderKey[]];
  const needsInstances = test !== undefined || rest.length > 0;
  const from = needsInstances
    ? sql`indexed_values o cross join lateral ${instanceOf(query)}`
    : sql`indexed_values o`;
  const way = sql.raw(first.isDescending ? 'desc' : 'asc');
  const direction = sql`o.kind ${way}, o.number ${way}, o.text ${way}`;
  const ofRest = rest.length > 0 ? orderSql(rest) : sql`o.instance_id`;
  return {
    direction,
    rest: ofRest,
    order: sql`${direction}, ${ofRest}`,
    select: sql`select o.kind, o.number, o.text, o.instance_id from ${from}
      where ${inIndex(index)} and ${range} and ${test ?? sql`true`}`,
    passed: ({ kind, number, text }: Value, side: 'after' | 'before'): Test => {
      const isLarger = (side === 'after') !== first.isDescending;
      return sql`(o.kind, o.number, o.text) ${isLarger ? sql`>` : sql`<`}
        (${kind}::smallint, ${number}::float8, ${text}::text)`;
    },
    beside: ({ values, id }: Place, side: 'after' | 'before'): Test =>
      rest.length > 0
        ? besideSql(rest, { values: values.slice(1), id }, side)
        : sql`o.instance_id ${side === 'after' ? sql`>` : sql`<`} ${id}::text`,
  };
}
