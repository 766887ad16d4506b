import type { EntityInstance } from '@orrery/sdk';
import type { Attribute } from '../api/records.js';

type Value = EntityInstance['state'][string];

export interface AttributeType {
  readonly name: string;
  readonly type: Attribute['type'];
}

export interface Column {
  readonly name: string;
  readonly isNumeric: boolean;
}

/** Columns beyond these make no table; the state of an instance shows the rest. */
export const MAX_COLUMNS = 12;

/** The attributes of the schema in their order, then others that instances have, by name. */
export function columnsOf(attributes: readonly AttributeType[], shown: readonly EntityInstance[]): Column[] {
  const columns = new Map(
    attributes.map(({ name, type }) => [name, { name, isNumeric: type === 'integer' || type === 'float' }]),
  );
  const others = new Set(
    shown.flatMap(({ state }) => Object.keys(state)).filter((name) => !columns.has(name)),
  );
  for (const name of [...others].sort()) columns.set(name, { name, isNumeric: isNumeric(name, shown) });
  return [...columns.values()].slice(0, MAX_COLUMNS);
}

function isNumeric(name: string, shown: readonly EntityInstance[]): boolean {
  const values = shown
    .map(({ state }) => state[name])
    .filter((value) => value !== undefined && value !== null);
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

/** A value in one line; nothing for what an instance does not have. */
export function shownValue(value: Value | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Instances of several schemas have no columns in common: their state in one line. */
export const summaryOf = ({ state }: EntityInstance): string =>
  Object.entries(state)
    .map(([name, value]) => `${name} ${shownValue(value)}`)
    .join(' · ');
