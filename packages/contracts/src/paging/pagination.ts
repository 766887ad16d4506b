import { z } from 'zod';
import { ServiceError } from '../errors/service-error.js';

export const MAX_LIMIT = 100;
/** Rows a page may lie deep; beyond it offsets cost too much. */
export const MAX_DEPTH = 100_000;

const wholeNumber = (fallback: number, max: number) =>
  z
    .union([z.int(), z.string().regex(/^\d{1,9}$/, 'A whole number is required.')])
    .transform(Number)
    .pipe(z.int().min(1).max(max))
    .default(fallback);

const pageOf = (defaultLimit: number) =>
  z.strictObject({ page: wholeNumber(1, 1_000_000_000), limit: wholeNumber(defaultLimit, MAX_LIMIT) });

/** Query parameters of every list: `page` from 1, `limit` 1–100 (default 20). Out of bounds is refused, not clamped. */
export const pageQuery = pageOf(20);
/** Of a list that is short and wanted whole: the largest page where the caller names no `limit`. */
export const wholePageQuery = pageOf(MAX_LIMIT);
export type PageQuery = z.output<typeof pageQuery>;

export const pagination = z.strictObject({
  page: z.int(),
  limit: z.int(),
  total: z.int(),
  totalPages: z.int(),
  /** Present and true where counting stopped at 10,000. */
  totalIsMinimum: z.literal(true).optional(),
});
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
