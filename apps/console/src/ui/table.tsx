import type { Page as ListPage, Pagination } from '@orrery/sdk';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useState } from 'react';
import { Button } from './button.js';
import { classes, SCROLLABLE } from './classes.js';
import { Await, type AwaitProps } from './messages.js';
import { Empty, Section } from './page.js';
import { rangeOf } from './page-range.js';
import { Time } from './values.js';

export interface ListingProps<Row> extends Pick<TableProps<Row>, 'columns' | 'rowKey'> {
  query: AwaitProps<ListPage<Row>>['query'];
  /** What the list has: "events". */
  what: string;
  /** For screen readers; what the list has, by default. */
  label?: string;
  empty: ReactNode;
  onPage?: (page: number) => void;
  /** Of a list that the API gives whole: by what one finds an item of a long one. */
  nameOf?: (row: Row) => string;
}

/** A list of the API as a table: while it is read, where it is empty, page by page. */
export const Listing = <Row,>({ query, what, label, empty, onPage, nameOf, ...table }: ListingProps<Row>) => (
  <Await query={query} what={`the ${what}`}>
    {({ data, pagination }) =>
      data.length === 0 ? (
        empty
      ) : (
        <>
          <Find what={what} items={data} nameOf={nameOf}>
            {(found) => <Table label={label ?? capitalized(what)} rows={found} {...table} />}
          </Find>
          {onPage && <Pager pagination={pagination} rows={data.length} what={what} onPage={onPage} />}
        </>
      )
    }
  </Await>
);

const capitalized = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

export interface ListSectionProps<Row> extends Omit<ListingProps<Row>, 'empty'> {
  lead: string;
  title?: string;
  /** Makes a new item; false for who may not. */
  create: ReactNode;
  /** What is said where there is no item yet. */
  empty: string;
  foot?: ReactNode;
  children: ReactNode;
}

/** A list as a section of a page; without an item it says what one is, and offers to make the first. */
export function ListSection<Row>(props: ListSectionProps<Row>) {
  const { lead, title, create, empty, foot, children, ...list } = props;
  const { query, what } = list;
  return (
    // In one position, so that a form stays open when what it has made comes into the list.
    <Section title={title ?? capitalized(what)} lead={lead} actions={query.data && create}>
      <Listing {...list} empty={<Empty title={empty}>{children}</Empty>} />
      {foot}
    </Section>
  );
}

/** Shorter lists are seen at a glance. */
const LONG = 20;

interface FindProps<Row> {
  what: string;
  items: readonly Row[];
  nameOf: ((row: Row) => string) | undefined;
  children: (found: readonly Row[]) => ReactNode;
}

function Find<Row>({ what, items, nameOf, children }: FindProps<Row>) {
  const [text, setText] = useState('');
  if (nameOf === undefined || items.length <= LONG) return children(items);
  const wanted = text.trim().toLowerCase();
  const found = items.filter((item) => nameOf(item).toLowerCase().includes(wanted));
  return (
    <>
      <input
        type="search"
        aria-label={`Find ${what}`}
        placeholder={`Find among ${items.length} ${what}`}
        className="control mb-2 max-w-md"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {found.length === 0 ? <p className="py-3 text-muted">None has this in its name.</p> : children(found)}
    </>
  );
}

export const CHANGED: Column<{ updatedAt: string }> = {
  header: 'Changed',
  wideOnly: true,
  cell: ({ updatedAt }) => <Time at={updatedAt} relative isPast />,
};

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
  const [region, setRegion] = useState<HTMLElement | null>(null);
  const isVirtual = rows.length > MANY;
  return (
    <section
      ref={setRegion}
      aria-label={label}
      {...SCROLLABLE}
      className="relative overflow-auto rounded-lg border border-line bg-surface"
      style={{ maxHeight: isVirtual ? MAX_HEIGHT : undefined }}
    >
      <table
        className="w-full border-separate border-spacing-0 text-left wrap-break-word"
        aria-rowcount={rows.length + 1}
      >
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

function VirtualBody<Row>(props: TableProps<Row> & { region: HTMLElement | null }) {
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

/**
 * The rows in view of a region that scrolls, and how high those above and below them are, in pixels. The region is a
 * state of who renders it: a ref is not set yet when the effects of what is inside run for the first time.
 */
export function useSeenRows(region: HTMLElement | null, count: number, rowHeight: number) {
  const virtualizer = useVirtualizer<HTMLElement, Element>({
    count,
    getScrollElement: () => region,
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
  /** Of the page. */
  rows: number;
  onPage: (page: number) => void;
  what: string;
}

/** Leads through the pages of a list; nothing where there is one. */
export function Pager({ pagination, rows, onPage, what }: PagerProps) {
  const { page, total, totalPages, totalIsMinimum } = pagination;
  const { first, last, hasNext } = rangeOf(pagination, rows);
  if (totalPages <= 1) return null;
  return (
    <nav
      aria-label={`Pages of ${what}`}
      className="mt-3 flex flex-wrap items-center gap-3 text-sm text-muted"
    >
      <span>
        {first}–{last} of {totalIsMinimum ? 'more than ' : ''}
        {total.toLocaleString('en')} {what}
      </span>
      <Button size="small" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        Previous
      </Button>
      <Button size="small" disabled={!hasNext} onClick={() => onPage(page + 1)}>
        Next
      </Button>
    </nav>
  );
}
