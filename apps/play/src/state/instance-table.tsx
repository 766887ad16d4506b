import { useState } from 'preact/hooks';
import { Name, valueText } from '../ui/parts.js';
import type { Row } from '../world/records.js';
import { type Column, MOST_COLUMNS, type Order } from './columns.js';

const PAGE = 25;

interface TableProps {
  readonly schema: string;
  /** Undefined: they are searched for, or that did not work. */
  readonly rows: readonly Row[] | undefined;
  readonly isReading: boolean;
  readonly columns: readonly Column[];
  readonly order: Order | undefined;
  readonly onOrder: (order: Order | undefined) => void;
  readonly onOpen: (id: string) => void;
}

/** Instances with the attributes that fit; a number has a bar beside it, and what has just changed shines. */
export function InstanceTable({
  schema,
  rows: told,
  isReading,
  columns,
  order,
  onOrder,
  onOpen,
}: TableProps) {
  const [most, setMost] = useState(PAGE);
  const rows = told ?? [];
  const shown = columns.slice(0, MOST_COLUMNS);
  const left = columns.length - shown.length;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to have the focus */}
      <section class="scrolling" tabIndex={0} aria-label={`Table of ${schema}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {shown.map(({ name, kind }) => (
                <th key={name} scope="col" class={kind} aria-sort={sortOf(order, name)}>
                  <button type="button" onClick={() => onOrder(nextOrder(order, name))}>
                    <Name>{name}</Name>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row) => (
              <tr key={row.id}>
                <th scope="row">
                  <button type="button" class="open" onClick={() => onOpen(row.id)}>
                    <Name>{row.id}</Name>
                  </button>
                </th>
                {shown.map((column) => (
                  <Cell key={column.name} row={row} column={column} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isReading && <p class="empty">Looking…</p>}
      {told?.length === 0 && <p class="empty">None is found.</p>}
      {left > 0 && <p class="muted">Each has {left} more attributes: press a name to see all.</p>}
      {rows.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + 2 * PAGE)}>
          Show more
        </button>
      )}
    </>
  );
}

function Cell({ row, column: { name, kind, most } }: { row: Row; column: Column }) {
  const value = row.state[name];
  const changed = row.changed[name];
  const share =
    typeof value === 'number' && most !== undefined ? Math.max(0, Math.min(1, value / most)) : undefined;
  return (
    // A new key draws it anew, so that its motion begins.
    <td key={`${name} ${changed}`} class={changed === undefined ? kind : `${kind} changed`}>
      <span class="cell">
        <bdi>
          {kind === 'boolean' && typeof value === 'boolean' ? (value ? 'yes' : 'no') : valueText(value)}
        </bdi>
        {share !== undefined && (
          <span class="bar" aria-hidden="true" style={{ '--share': share.toFixed(3) }} />
        )}
      </span>
    </td>
  );
}

const sortOf = (order: Order | undefined, name: string) =>
  order?.name !== name ? 'none' : order.isDescending ? 'descending' : 'ascending';

/** Largest first, then smallest first, then as listed. */
function nextOrder(order: Order | undefined, name: string): Order | undefined {
  if (order?.name !== name) return { name, isDescending: true };
  return order.isDescending ? { name, isDescending: false } : undefined;
}
