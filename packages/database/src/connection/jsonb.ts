import { type RawBuilder, sql } from 'kysely';

/**
 * A value for a `jsonb` column. Always write through this: the driver would turn a bare array into a
 * PostgreSQL array, and a bare string is not JSON.
 */
export const jsonb = <T>(value: T): RawBuilder<T> => sql<T>`cast(${JSON.stringify(value)} as jsonb)`;
