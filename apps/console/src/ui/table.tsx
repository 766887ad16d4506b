import type { Pagination } from '@orrery/sdk';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useRef } from 'react';
import { Button } from './button.js';
import { classes, SCROLLABLE } from './classes.js';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** The header is for screen readers alone. */
  isUnnamed?: boolean;
  alignRight?: boolean;
  /** Left out on narrow pages. */
  wideOnly?: boolean;
  className?: string;
}

export const actionsColumn = <Row,>(cell: Column<Row>['cell']): Column<Row> => ({
  header: 'Actions',
  isUnnamed: true,
  cell,
});

export interface TableProps<Row> {
  /** For screen readers: what the rows are. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
}

/** From this many rows on the table scrolls, and only those that are seen are in the page. */
const MANY = 60;
const MAX_HEIGHT = 560;
const ROW_HEIGHT = 37;

/** A table that scrolls by itself, also with the keyboard, and holds any number of rows. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows } = props;
  const region = useRef<HTMLElement>(null);
  const isVirtual = rows.length > MANY;
  return (
    <section
      ref={region}
      aria-label={label}
      {...SCROLLABLE}
      className="relative overflow-auto rounded-lg border border-line bg-surface"
      style={{ maxHeight: isVirtual ? MAX_HEIGHT : undefined }}
    >
      <table className="w-full border-separate border-spacing-0 text-left" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ header, isUnnamed, alignRight, wideOnly }) => (
              <th
                key={header}
                scope="col"
                className={classes(
                  'sticky top-0 z-10 border-b border-line bg-surface px-3 py-2 text-xs font-semibold whitespace-nowrap text-muted',
                  alignRight && 'text-right',
                  wideOnly && 'max-sm:hidden',
                )}
              >
                {isUnnamed ? <span className="sr-only">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        {isVirtual ? <VirtualBody {...props} region={region} /> : <PlainBody {...props} />}
      </table>
    </section>
  );
}

const PlainBody = <Row,>(props: TableProps<Row>) => (
  <tbody>
    {props.rows.map((row, index) => (
      <TableRow key={props.rowKey(row)} {...props} row={row} index={index} />
    ))}
  </tbody>
);

function VirtualBody<Row>(props: TableProps<Row> & { region: RefObject<HTMLElement | null> }) {
  const { rows, rowKey, region } = props;
  const seen = useSeenRows(region, rows.length, ROW_HEIGHT);
  return (
    <tbody>
      <Gap height={seen.above} />
      {seen.indexes.map((index) => {
        const row = rows[index];
        return row === undefined ? null : <TableRow key={rowKey(row)} {...props} row={row} index={index} />;
      })}
      <Gap height={seen.below} />
    </tbody>
  );
}

/** The rows in view of a region that scrolls, and how high those above and below them are, in pixels. */
export function useSeenRows<Region extends HTMLElement>(
  region: RefObject<Region | null>,
  count: number,
  rowHeight: number,
) {
  const virtualizer = useVirtualizer<Region, Element>({
    count,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  return {
    virtualizer,
    indexes: items.map(({ index }) => index),
    above: items[0]?.start ?? 0,
    below: virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0),
  };
}

/** An empty row that stands for those above or below, so that a table keeps its columns and its height. */
export const Gap = ({ height }: { height: number }) =>
  height > 0 && (
    <tr>
      <td colSpan={99} style={{ height, padding: 0 }} />
    </tr>
  );

function TableRow<Row>({ row, index, columns }: TableProps<Row> & { row: Row; index: number }) {
  return (
    <tr aria-rowindex={index + 2} className="group/row hover:bg-hover">
      {columns.map(({ header, cell, alignRight, wideOnly, className }) => (
        <td
          key={header}
          className={classes(
            'border-b border-line px-3 py-2 align-top group-last/row:border-b-0',
            alignRight && 'text-right',
            wideOnly && 'max-sm:hidden',
            className,
          )}
        >
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

export interface PagerProps {
  pagination: Pagination;
  onPage: (page: number) => void;
  what: string;
}

/** Leads through the pages of a list; nothing where there is one. */
export function Pager({ pagination, onPage, what }: PagerProps) {
  const { page, limit, total, totalPages, totalIsMinimum } = pagination;
  if (totalPages <= 1) return null;
  return (
    <nav
      aria-label={`Pages of ${what}`}
      className="mt-3 flex flex-wrap items-center gap-3 text-sm text-muted"
    >
      <span>
        {(page - 1) * limit + 1}–{Math.min(page * limit, total)} of {totalIsMinimum ? 'more than ' : ''}
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
