import type { Pagination } from '@orrery/sdk';
import { Button } from './button.js';

export interface PagerProps {
  pagination: Pagination;
  onPage: (page: number) => void;
  /** What the list has: "worlds". */
  what: string;
}

/** Leads through the pages of a list; nothing where there is one. */
export function Pager({
  pagination: { page, limit, total, totalPages, totalIsMinimum },
  onPage,
  what,
}: PagerProps) {
  if (totalPages <= 1) return null;
  const first = (page - 1) * limit + 1;
  return (
    <nav
      aria-label={`Pages of ${what}`}
      className="mt-3 flex flex-wrap items-center gap-3 text-sm text-muted"
    >
      <span>
        {first}–{Math.min(page * limit, total)} of {totalIsMinimum ? 'more than ' : ''}
        {total.toLocaleString('en')} {what}
      </span>
      <Button size="small" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        Previous
      </Button>
      <Button size="small" disabled={page >= totalPages} onClick={() => onPage(page + 1)}>
        Next
      </Button>
    </nav>
  );
}
