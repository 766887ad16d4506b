import type { EntityInstance } from '@orrery/sdk';
import { useEffect, useRef } from 'react';
import { instanceKey } from '../api/deployments.js';
import { classes, SCROLLABLE } from '../ui/classes.js';
import { Gap, useSeenRows } from '../ui/table.js';
import { type Column, shownValue, summaryOf } from './columns.js';
import { PAGE, type SeenInstances } from './queries.js';

export interface InstancesTableProps {
  seen: SeenInstances;
  /** The attributes; undefined where the instances have different schemas. */
  columns: readonly Column[] | undefined;
  plotted: readonly string[] | undefined;
  /** Whether another position is being read, so that `seen` is of the one before. */
  isOld: boolean;
  /** Says which pages are in view. */
  onPages: (pages: { firstPage: number; lastPage: number }) => void;
  onPlot: (instance: string) => void;
  /** The changes of this instance are looked for. */
  onPick: (instance: string) => void;
}

const ROW_HEIGHT = 33;
const HEAD =
  'sticky top-0 z-1 border-b border-line bg-surface px-2.5 py-1.5 text-xs font-semibold whitespace-nowrap text-muted';
const CELL = 'border-b border-line px-2.5 py-1.5 whitespace-nowrap';

/** Any number of instances, of which those that are seen are read. A value that has changed lights up. */
export function InstancesTable(props: InstancesTableProps) {
  const { seen, columns, isOld, onPages } = props;
  const region = useRef<HTMLElement>(null);
  const items = useSeenRows(region, seen.total, ROW_HEIGHT);
  const firstPage = pageOf(items.indexes[0]);
  const lastPage = pageOf(items.indexes.at(-1));
  useEffect(() => onPages({ firstPage, lastPage }), [onPages, firstPage, lastPage]);
  return (
    <section
      ref={region}
      aria-label="Instances"
      aria-busy={isOld}
      {...SCROLLABLE}
      className="relative max-h-130 overflow-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full border-separate border-spacing-0 text-left" aria-rowcount={seen.total + 1}>
        <thead>
          <tr>
            <th scope="col" className={`${HEAD} w-8`}>
              <span className="sr-only">In the chart</span>
            </th>
            <th scope="col" className={HEAD}>
              Instance
            </th>
            {columns?.map(({ name, isNumeric }) => (
              <th key={name} scope="col" className={classes(HEAD, isNumeric && 'text-right')}>
                {name}
              </th>
            )) ?? (
              <th scope="col" className={HEAD}>
                State
              </th>
            )}
            <th scope="col" className={`${HEAD} text-right`}>
              Revision
            </th>
          </tr>
        </thead>
        <tbody>
          <Gap height={items.above} />
          {items.indexes.map((index) => (
            <Row key={rowKey(seen, index)} {...props} index={index} row={seen.rows[index - seen.offset]} />
          ))}
          <Gap height={items.below} />
        </tbody>
      </table>
    </section>
  );
}

const pageOf = (index = 0): number => Math.floor(index / PAGE) + 1;

const rowKey = ({ rows, offset }: SeenInstances, index: number): string | number => {
  const row = rows[index - offset];
  return row === undefined ? index : instanceKey(row);
};

interface RowProps extends InstancesTableProps {
  index: number;
  /** Undefined while it is read. */
  row: EntityInstance | undefined;
}

function Row({ index, row, columns, plotted, onPlot, onPick }: RowProps) {
  if (row === undefined)
    return (
      <tr aria-rowindex={index + 2} style={{ height: ROW_HEIGHT }}>
        <td colSpan={99} className={`${CELL} text-muted`}>
          …
        </td>
      </tr>
    );
  const instance = instanceKey(row);
  return (
    <tr aria-rowindex={index + 2} className="hover:bg-hover">
      <td className={`${CELL} w-8`}>
        <input
          type="checkbox"
          aria-label={`Draw ${instance}`}
          className="block size-3.5 accent-accent"
          checked={plotted?.includes(instance) ?? false}
          onChange={() => onPlot(instance)}
        />
      </td>
      <th scope="row" className={`${CELL} max-w-60 truncate text-left font-medium`} title={instance}>
        {columns === undefined && <span className="font-normal text-muted">{row.entitySchema}:</span>}
        <button
          type="button"
          className="-my-1.5 py-1.5 hover:underline"
          title={`Show what changed ${instance}`}
          onClick={() => onPick(instance)}
        >
          {row.instanceId}
        </button>
      </th>
      {columns?.map(({ name, isNumeric }) => (
        <td key={name} className={classes(CELL, 'max-w-64 truncate', isNumeric && 'text-right')}>
          <Value text={shownValue(row.state[name])} />
        </td>
      )) ?? (
        // What the others leave, so that the revision is always in view.
        <td className={`${CELL} w-full max-w-0 min-w-40 truncate font-mono text-sm`}>
          <Value text={summaryOf(row)} />
        </td>
      )}
      <td className={`${CELL} text-right text-muted`}>
        <Value text={String(row.revision)} />
      </td>
    </tr>
  );
}

/** Lights up when it becomes another text, not when the row appears. */
function Value({ text }: { text: string }) {
  const first = useRef(text);
  return (
    <span key={text} title={text} className={classes(first.current !== text && 'changed')}>
      {text}
    </span>
  );
}
