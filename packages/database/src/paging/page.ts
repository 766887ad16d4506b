import type { SelectQueryBuilder } from 'kysely';

export interface PageOf {
  /** From 1. */
  readonly page: number;
  /** Rows on a page. */
  readonly limit: number;
}

/** The rows of one page. The query says the order; it must be total, or rows move between pages. */
export const page = <DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { page: number, limit }: PageOf,
): SelectQueryBuilder<DB, TB, O> => query.limit(limit).offset((number - 1) * limit);
