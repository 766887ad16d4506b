import { ORDERED_CHARACTERS, type OrderKey, type OrderValue } from '@orrery/expressions';
import { type RawBuilder, sql } from 'kysely';
import type { Place } from '../../../core/queries/read-query.js';
import { valueSql } from './condition-sql.js';

/**
 * What an order compares of a value, in this sequence. The kind is null for what is missing; of the others one is null
 * and ties. A boolean is the number 0 or 1.
 */
export interface OrderColumns {
  readonly kind: RawBuilder<number | null>;
  readonly number: RawBuilder<unknown>;
  readonly text: RawBuilder<string | null>;
}

const KINDS = { number: 0, string: 1, boolean: 2 } as const;

export function columnsOf(path: readonly string[]): OrderColumns {
  const value = sql`(${valueSql(path)})`;
  const type = sql`jsonb_typeof(${value})`;
  return {
    kind: sql`case ${type} when 'number' then 0 when 'string' then 1 when 'boolean' then 2 end`,
    number: sql`case ${type} when 'number' then ${value}::numeric when 'boolean' then ${value}::boolean::int end`,
    text: sql`(case ${type} when 'string' then left(${value} #>> '{}', ${sql.lit(ORDERED_CHARACTERS)}) end collate "C")`,
  };
}

/** One step of an order: a column, or the three of a value. */
type Column = RawBuilder<unknown>;

const ID: Column = sql`(i.instance_id collate "C")`;

/** The order of instances: its keys, and then the instanceId. */
export function orderSql(order: readonly OrderKey[]): RawBuilder<unknown> {
  const steps = order.flatMap(({ path, isDescending }) => {
    const columns = path === null ? [ID] : Object.values(columnsOf(path));
    return columns.map(
      (column: Column) => sql`${column} ${sql.raw(isDescending ? 'desc' : 'asc')} nulls last`,
    );
  });
  return sql.join([...steps, ID]);
}

/** Whether an instance stands behind the place, or before it. */
export function besideSql(order: readonly OrderKey[], { values, id }: Place, side: 'after' | 'before') {
  let beside: RawBuilder<boolean> = sql`${ID} ${side === 'after' ? sql`>` : sql`<`} ${id}::text`;
  for (let at = order.length - 1; at >= 0; at -= 1) {
    const key = order[at];
    if (key === undefined) continue;
    const [passed, tied] = stepsAt(key, values[at] ?? null, id, side);
    beside = sql`(${passed} or (${tied} and ${beside}))`;
  }
  return beside;
}

/** Whether an instance has left the value behind, and whether it has the same one. Neither is ever null. */
function stepsAt(
  { path, isDescending }: OrderKey,
  value: OrderValue,
  id: string,
  side: 'after' | 'before',
): [RawBuilder<boolean>, RawBuilder<boolean>] {
  const isLarger = (side === 'after') !== isDescending;
  const beyond = isLarger ? sql`>` : sql`<`;
  if (path === null) return [sql`${ID} ${beyond} ${id}::text`, sql`${ID} = ${id}::text`];
  const { kind, number, text } = columnsOf(path);
  if (value === null) return [side === 'after' ? sql`false` : sql`${kind} is not null`, sql`${kind} is null`];
  const own = sql`${sql.lit(KINDS[typeof value as keyof typeof KINDS])}`;
  const [column, constant] =
    typeof value === 'string'
      ? [text, sql`${value}::text`]
      : [number, sql`${String(Number(value))}::numeric`];
  const missing = side === 'after' ? sql`(${kind}) is null` : sql`false`;
  return [
    sql`coalesce(${kind} ${beyond} ${own} or (${kind} = ${own} and ${column} ${beyond} ${constant}), ${missing})`,
    sql`coalesce(${kind} = ${own} and ${column} = ${constant}, false)`,
  ];
}
