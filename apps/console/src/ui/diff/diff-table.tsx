import { useMemo } from 'react';
import { classes, SCROLLABLE } from '../classes.js';
import { type DiffRow, diffRows } from './diff-rows.js';

export interface DiffProps {
  /** For screen readers: what is compared. */
  label: string;
  /** Undefined: it was not there. */
  left: unknown;
  right: unknown;
  titles?: readonly [left: string, right: string] | undefined;
  /** Leaves out what is the same, but for what surrounds a difference. */
  onlyChanges?: boolean | undefined;
}

export default function DiffTable({ label, left, right, titles, onlyChanges = false }: DiffProps) {
  const rows = useMemo(() => diffRows(left, right), [left, right]);
  const differs = rows.some(({ change }) => change !== 'same');
  const numbered = rows.map((row, index) => ({ row, index }));
  const shown = onlyChanges ? numbered.filter(({ index }) => isNearChange(rows, index)) : numbered;
  if (!differs && onlyChanges) return <p className="text-muted">Nothing differs.</p>;
  return (
    <section
      aria-label={label}
      {...SCROLLABLE}
      className="max-h-160 overflow-auto rounded-md border border-line bg-surface"
    >
      <table className="w-full table-fixed border-collapse font-mono text-sm leading-5">
        {titles && (
          <thead>
            <tr>
              {titles.map((title) => (
                <th
                  key={title}
                  scope="col"
                  className="sticky top-0 border-b border-line bg-surface px-3 py-1.5 text-left font-sans text-xs font-semibold text-muted"
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {shown.map(({ row, index }) => (
            <tr key={index}>
              <Side row={row} text={row.left} side="left" />
              <Side row={row} text={row.right} side="right" />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const LEFT = { same: '', changed: 'bg-bad-soft', removed: 'bg-bad-soft', added: 'bg-sunken/60' };
const RIGHT = { same: '', changed: 'bg-ok-soft', removed: 'bg-sunken/60', added: 'bg-ok-soft' };
const SIGN = { left: '−', right: '+' };
const WORD = { left: 'before: ', right: 'after: ' };

function Side({ row, text, side }: { row: DiffRow; text: string | undefined; side: 'left' | 'right' }) {
  const tone = (side === 'left' ? LEFT : RIGHT)[row.change];
  const isMarked = text !== undefined && row.change !== 'same';
  return (
    <td
      className={classes(
        'w-1/2 border-line px-2 align-top break-words whitespace-pre-wrap first:border-r',
        tone,
      )}
    >
      {text !== undefined && (
        <div className="flex" style={{ paddingInlineStart: `${row.depth * 1.1}em` }}>
          <span aria-hidden="true" className="w-4 shrink-0 text-muted select-none">
            {isMarked ? SIGN[side] : ''}
          </span>
          {isMarked && <span className="sr-only">{WORD[side]}</span>}
          <span className="min-w-0">{text}</span>
        </div>
      )}
    </td>
  );
}

/** Lines around a change that are shown with it. */
const CONTEXT = 2;

const isNearChange = (rows: readonly DiffRow[], index: number): boolean =>
  rows.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ change }) => change !== 'same');
