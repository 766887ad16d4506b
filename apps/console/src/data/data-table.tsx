import type { EntityInstance } from '@orrery/sdk';
import { type ReactNode, useEffect, useState } from 'react';
import { instanceKey } from '../api/deployments.js';
import type { Attribute } from '../api/records.js';
import { shownValue } from '../live/entry-words.js';
import { columnsOf as instanceColumns } from '../live/instances.js';
import { classes, SCROLLABLE } from '../ui/classes.js';
import { Gap, useSeenRows } from '../ui/table.js';
import { Time } from '../ui/values.js';
import { nextOrder, orderName } from './queries.js';

interface DataTableProps {
  attributes: readonly Attribute[];
  rows: readonly EntityInstance[];
  total: number;
  orderBy: string | undefined;
  onOrder: (orderBy: string | undefined) => void;
  ticked: ReadonlySet<string>;
  /** Undefined where nothing can be changed. */
  onTick: ((instance: EntityInstance) => void) | undefined;
  /** Called when the last rows that are there come into view. */
  onEnd: () => void;
  actions: (instance: EntityInstance) => ReactNode;
}

const ROW_HEIGHT = 41;
const HEAD =
  'sticky top-0 z-1 border-b border-line bg-surface px-2.5 py-1.5 text-xs font-semibold whitespace-nowrap text-muted';
const CELL = 'border-b border-line px-2.5 py-1 whitespace-nowrap';

/** Instances of one schema, a column for each attribute; a click on a column's name sorts by it. */
export function DataTable(props: DataTableProps) {
  const { attributes, rows, total, orderBy, onOrder, ticked, onTick, onEnd, actions } = props;
  const [region, setRegion] = useState<HTMLElement | null>(null);
  const seen = useSeenRows(region, rows.length, ROW_HEIGHT);
  const columns = instanceColumns(attributes, rows, Number.POSITIVE_INFINITY);
  const last = seen.indexes.at(-1) ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 10) onEnd();
  }, [onEnd, last, rows.length]);
  const sortable = (name: string, label: string, isNumeric = false) => (
    <Sortable
      key={name}
      label={label}
      isNumeric={isNumeric}
      name={name}
      orderBy={orderBy}
      onOrder={onOrder}
    />
  );
  return (
    <section
      ref={setRegion}
      aria-label="Instances"
      {...SCROLLABLE}
      className="relative max-h-[70dvh] overflow-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full border-separate border-spacing-0 text-left" aria-rowcount={total + 1}>
        <thead>
          <tr>
            {onTick && (
              <th scope="col" className={`${HEAD} w-8`}>
                <span className="sr-only">Chosen</span>
              </th>
            )}
            {sortable('id', 'Instance')}
            {columns.map(({ name, isNumeric }) => sortable(orderName(name), name, isNumeric))}
            <th scope="col" className={`${HEAD} text-right`}>
              Revision
            </th>
            <th scope="col" className={`${HEAD} max-sm:hidden`}>
              Changed
            </th>
            <th scope="col" className={HEAD}>
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Gap height={seen.above} />
          {seen.indexes.map((index) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <tr
                key={instanceKey(row)}
                aria-rowindex={index + 2}
                className="hover:bg-hover"
                style={{ height: ROW_HEIGHT }}
              >
                {onTick && (
                  <td className={`${CELL} w-8`}>
                    <input
                      type="checkbox"
                      aria-label={`Choose ${row.instanceId}`}
                      className="block size-4 accent-accent"
                      checked={ticked.has(row.instanceId)}
                      onChange={() => onTick(row)}
                    />
                  </td>
                )}
                <th scope="row" className={`${CELL} max-w-60 truncate font-medium`} title={row.instanceId}>
                  {row.instanceId}
                </th>
                {columns.map(({ name, isNumeric }) => (
                  <td
                    key={name}
                    className={classes(CELL, 'max-w-64 truncate', isNumeric && 'text-right')}
                    title={shownValue(row.state[name])}
                  >
                    {shownValue(row.state[name])}
                  </td>
                ))}
                <td className={`${CELL} text-right text-muted`}>{row.revision}</td>
                <td className={`${CELL} text-muted max-sm:hidden`}>
                  <Time at={row.updatedAt} relative isPast />
                </td>
                <td className={`${CELL} text-right`}>{actions(row)}</td>
              </tr>
            );
          })}
          <Gap height={seen.below} />
        </tbody>
      </table>
    </section>
  );
}

interface SortableProps extends Pick<DataTableProps, 'orderBy' | 'onOrder'> {
  label: string;
  /** As `orderBy` names it. */
  name: string;
  isNumeric: boolean;
}

const SIGNS = { ascending: ' ↑', descending: ' ↓' } as const;

function Sortable({ label, name, isNumeric, orderBy, onOrder }: SortableProps) {
  const order = orderBy === name ? 'ascending' : orderBy === `${name} desc` ? 'descending' : undefined;
  return (
    <th scope="col" aria-sort={order} className={classes(HEAD, isNumeric && 'text-right')}>
      <button
        type="button"
        className="-my-1 py-1 hover:text-text"
        title={`Sort by ${label}`}
        onClick={() => onOrder(nextOrder(orderBy, name))}
      >
        {label}
        <span aria-hidden="true">{order && SIGNS[order]}</span>
      </button>
    </th>
  );
}
