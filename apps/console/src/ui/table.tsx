import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useRef } from 'react';
import { classes } from './classes.js';

export interface Column<Row> {
  key: string;
  header: ReactNode;
  cell: (row: Row) => ReactNode;
  /** For numbers. */
  alignRight?: boolean | undefined;
  /** Left out on narrow pages. */
  wideOnly?: boolean | undefined;
  className?: string | undefined;
}

export interface TableProps<Row> {
  /** For screen readers: what the rows are. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** Further classes of a row, such as for one that has just changed. */
  rowClassName?: ((row: Row) => string | undefined) | undefined;
  /** Pixels that a row is high, about. */
  rowHeight?: number | undefined;
  /** Pixels after which it scrolls; only then, and with many rows, are those that are not seen left out. */
  maxHeight?: number | undefined;
}

/** A region that scrolls takes the focus, so that the keyboard can scroll it. */
const SCROLLABLE = { tabIndex: 0 };
/** From this many rows on only those that are seen are in the page. */
const MANY = 60;

/** A table that scrolls by itself, also with the keyboard, and holds any number of rows. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, maxHeight = 560 } = props;
  const region = useRef<HTMLElement>(null);
  const isVirtual = rows.length > MANY;
  return (
    <section
      ref={region}
      aria-label={label}
      {...SCROLLABLE}
      className="relative overflow-auto rounded-lg border border-line bg-surface"
      style={{ maxHeight: isVirtual ? maxHeight : undefined }}
    >
      <table className="w-full border-separate border-spacing-0 text-left" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ key, header, alignRight, wideOnly }) => (
              <th
                key={key}
                scope="col"
                className={classes(
                  'sticky top-0 z-10 border-b border-line bg-surface px-3 py-2 text-xs font-semibold whitespace-nowrap text-muted',
                  alignRight && 'text-right',
                  wideOnly && 'max-sm:hidden',
                )}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        {isVirtual ? <VirtualBody {...props} region={region} /> : <PlainBody {...props} />}
      </table>
    </section>
  );
}

function PlainBody<Row>(props: TableProps<Row>) {
  return (
    <tbody>
      {props.rows.map((row, index) => (
        <TableRow key={props.rowKey(row)} {...props} row={row} index={index} />
      ))}
    </tbody>
  );
}

/** Two empty rows stand for those above and below, so the table keeps its columns and its height. */
function VirtualBody<Row>(props: TableProps<Row> & { region: RefObject<HTMLElement | null> }) {
  const { rows, rowKey, rowHeight = 37, region, columns } = props;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <tbody>
      {above > 0 && <Gap height={above} columns={columns.length} />}
      {items.map(({ index }) => {
        const row = rows[index];
        return row === undefined ? null : <TableRow key={rowKey(row)} {...props} row={row} index={index} />;
      })}
      {below > 0 && <Gap height={below} columns={columns.length} />}
    </tbody>
  );
}

const Gap = ({ height, columns }: { height: number; columns: number }) => (
  <tr>
    <td colSpan={columns} style={{ height, padding: 0 }} />
  </tr>
);

function TableRow<Row>({ row, index, columns, rowClassName }: TableProps<Row> & { row: Row; index: number }) {
  return (
    <tr aria-rowindex={index + 2} className={classes('group/row hover:bg-hover', rowClassName?.(row))}>
      {columns.map(({ key, cell, alignRight, wideOnly, className }) => (
        <td
          key={key}
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
