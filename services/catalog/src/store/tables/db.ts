import type { Database } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import type { CatalogSchema } from './schema.js';

/** The catalog's tables, inside or outside a transaction. */
export type Db = Kysely<CatalogSchema>;
/** For what must be part of a transaction. */
export type Trx = Transaction<CatalogSchema>;
/** For prepared statements. */
export type Pool = Database<CatalogSchema>['pool'];

/**
 * How a write locks a row until it commits (docs/catalog.md): `shared` keeps it there under its name; `editing` excludes
 * other changes of the row and of its counters; `alone`, for its deletion and renaming, waits for all others.
 */
export type Hold = 'shared' | 'editing' | 'alone';

export function held<Table extends keyof CatalogSchema, Row>(
  query: SelectQueryBuilder<CatalogSchema, Table, Row>,
  hold: Hold,
): SelectQueryBuilder<CatalogSchema, Table, Row> {
  if (hold === 'shared') return query.forKeyShare();
  return hold === 'editing' ? query.forNoKeyUpdate() : query.forUpdate();
}

/** A value for a `json` column, which keeps the order of keys. SQL null stays null. */
export const json = <T>(value: T): RawBuilder<T> =>
  sql<T>`cast(${value === null ? null : JSON.stringify(value)} as json)`;

/** The time that is written to rows: the clock of the process, not of the database. */
export const nowOf = ({ clock }: { readonly clock: Clock }): Date => new Date(clock.now());

/** The times of a row as the API says them. */
export const timesOf = (row: { readonly created_at: Date; readonly updated_at: Date }) => ({
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
