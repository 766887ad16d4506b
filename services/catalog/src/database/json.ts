import { type RawBuilder, sql } from 'kysely';

/** A value for a `json` column, which keeps the order of keys. SQL null stays null. */
export const json = <T>(value: T): RawBuilder<T> =>
  sql<T>`cast(${value === null ? null : JSON.stringify(value)} as json)`;
