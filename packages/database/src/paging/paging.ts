import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';

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

/** `isMinimum`: counting stopped, there are at least this many. */
export interface BoundedCount {
  readonly total: number;
  readonly isMinimum: boolean;
}

/** Counts that no counter keeps stop here: an exact count of a large table would cost more than the page. */
export const COUNT_LIMIT = 10_000;

/** Counts the rows of a query up to `limit`. Pass the query without order, limit and offset. */
export async function countUpTo<DB, TB extends keyof DB, O>(
  db: Kysely<DB>,
  query: SelectQueryBuilder<DB, TB, O>,
  limit: number = COUNT_LIMIT,
): Promise<BoundedCount> {
  const bounded = query
    .clearSelect()
    .select(sql`1`.as('one'))
    .limit(limit + 1);
  const { rows } = await sql<{
    count: number;
  }>`select count(*) as count from (${bounded}) as counted`.execute(db);
  const found = rows[0]?.count ?? 0;
  return { total: Math.min(found, limit), isMinimum: found > limit };
}
