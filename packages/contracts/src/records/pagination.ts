import { z } from 'zod';
import { ServiceError } from '../errors/service-error.js';
import { count, ordinal } from './fields.js';

export const MAX_LIMIT = 100;
/** Rows a page may lie deep; beyond it offsets cost too much. */
export const MAX_DEPTH = 100_000;

/** A whole number in a query, which is text. The service reads it again, so that a number is accepted, too. */
export const wholeNumberInQuery = (form: RegExp, error: string, most: number) =>
  z
    .union([z.int(), z.string().regex(form, error)])
    .transform(Number)
    .pipe(z.int().min(1).max(most));

const pageNumber = (most: number) =>
  wholeNumberInQuery(/^[1-9]\d{0,8}$/, 'A whole number from 1 is required, without leading zeros.', most);

/** Query parameters of every list: `page` from 1, `limit` 1–100 (default 20). Out of bounds is refused, not clamped. */
export const pageQuery = z.strictObject({
  page: pageNumber(1_000_000_000)
    .default(1)
    .describe('Which page, from 1. The product of `page` and `limit` may be at most 100,000.'),
  limit: pageNumber(MAX_LIMIT).default(20).describe('How many items a page has at most.'),
});
export type PageQuery = z.output<typeof pageQuery>;

export const pagination = z
  .strictObject({
    page: ordinal.describe('The page that is answered.'),
    limit: z.int().min(1).max(MAX_LIMIT).describe('How many items a page has at most.'),
    total: count.describe('How many items the whole list has.'),
    totalPages: count.describe('How many pages the whole list has: `total` / `limit`, rounded up.'),
    totalIsMinimum: z
      .literal(true)
      .optional()
      .describe('Present where counting stopped at 10,000: the list has at least `total` items.'),
  })
  .meta({ id: 'Pagination', description: 'Which part of a list the answer holds.' });
export type Pagination = z.infer<typeof pagination>;

export function refuseDeepPage({ page, limit }: PageQuery): void {
  if (page * limit > MAX_DEPTH) {
    throw new ServiceError(
      'page_too_deep',
      `The product of page and limit may be at most ${MAX_DEPTH}. Narrow the list instead.`,
    );
  }
}

export const paginationOf = ({ page, limit }: PageQuery, total: number): Pagination => ({
  page,
  limit,
  total,
  totalPages: Math.ceil(total / limit),
});
