import type { Row } from '../world/records.js';

/** Attributes that a table shows as columns; all others are in an instance's details. */
export const MOST_COLUMNS = 6;
/** Rows that are looked at to find the attributes. */
const SAMPLE = 50;

export interface Column {
  readonly name: string;
  readonly kind: 'number' | 'boolean' | 'text' | 'other';
  /** Of numbers that are never negative: the largest, which a full bar stands for. */
  readonly most: number | undefined;
}

/** The attributes of some rows: what is easily read first, in the order in which the states have them otherwise. */
export function columnsOf(rows: readonly Row[]): Column[] {
  const values = new Map<string, unknown[]>();
  for (const { state } of rows.slice(0, SAMPLE))
    for (const [name, value] of Object.entries(state)) {
      const known = values.get(name) ?? [];
      known.push(value);
      values.set(name, known);
    }
  const columns = [...values].map(([name, known]) => columnOf(name, known, rows));
  return columns.sort((a, b) => RANKS[a.kind] - RANKS[b.kind]);
}

const RANKS = { number: 0, boolean: 1, text: 1, other: 2 } as const;
/** A longer text is no column. */
const LONG = 60;

function columnOf(name: string, values: readonly unknown[], rows: readonly Row[]): Column {
  const isAll = (type: string) => values.every((value) => typeof value === type || value === null);
  const isShort = values.every((value) => typeof value !== 'string' || value.length <= LONG);
  if (isAll('number') && values.some((value) => value !== null))
    return { name, kind: 'number', most: mostOf(name, rows) };
  if (isAll('boolean')) return { name, kind: 'boolean', most: undefined };
  return { name, kind: isAll('string') && isShort ? 'text' : 'other', most: undefined };
}

function mostOf(name: string, rows: readonly Row[]): number | undefined {
  let most = 0;
  for (const { state } of rows) {
    const value = state[name];
    if (typeof value !== 'number') continue;
    if (value < 0) return undefined;
    if (value > most) most = value;
  }
  return most > 0 ? most : undefined;
}

export interface Order {
  readonly name: string;
  readonly isDescending: boolean;
}

/** The order as a query takes it: names that are no plain words stand in quotes, and `id` alone would be the instance's. */
export const orderText = ({ name, isDescending }: Order): string =>
  `${/^[A-Za-z_]\w*$/.test(name) && name !== 'id' ? name : JSON.stringify(name)}${isDescending ? ' desc' : ''}`;

/** As a query orders: numbers, then texts, then booleans; what is missing comes last; ties by id. */
export function ordered(rows: readonly Row[], { name, isDescending }: Order): Row[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [a.state[name], b.state[name]];
    const [rankOfLeft, rankOfRight] = [rankOf(left), rankOf(right)];
    if (rankOfLeft === MISSING || rankOfRight === MISSING)
      return rankOfLeft - rankOfRight || (a.id < b.id ? -1 : 1);
    const order = rankOfLeft - rankOfRight || compared(left as string, right as string);
    return sign * order || (a.id < b.id ? -1 : 1);
  });
}

const MISSING = 3;
const rankOf = (value: unknown): number =>
  ({ number: 0, string: 1, boolean: 2 })[typeof value as string] ?? MISSING;

const compared = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
