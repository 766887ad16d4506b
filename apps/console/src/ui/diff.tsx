import { create, type Delta } from 'jsondiffpatch';
import { useMemo } from 'react';
import { classes, SCROLLABLE } from './classes.js';

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
    <td className={classes('w-1/2 border-line px-2 align-top whitespace-pre-wrap first:border-r', tone)}>
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

export interface DiffRow {
  readonly depth: number;
  /** The line in the left value; undefined where only the right one has it. */
  readonly left: string | undefined;
  readonly right: string | undefined;
  readonly change: 'same' | 'changed' | 'added' | 'removed';
}

/** Moves are shown as removed here and added there. */
const differ = create({
  objectHash: (item: object) => JSON.stringify(item),
  arrays: { detectMove: false },
});

/** The two values line by line, with what differs. Undefined stands for a value that is not there. */
export function diffRows(left: unknown, right: unknown): DiffRow[] {
  const rows: DiffRow[] = [];
  const print = (value: unknown) => JSON.stringify(value, null, 2) ?? '';
  walk({ rows, depth: 0, name: '', print }, left, right, differ.diff(left, right));
  return rows;
}

interface Position {
  readonly rows: DiffRow[];
  readonly depth: number;
  /** What precedes the value: its key. */
  readonly name: string;
  readonly print: (value: unknown) => string;
}

function walk(position: Position, left: unknown, right: unknown, delta: Delta): void {
  if (delta === undefined) addAll(position, right, 'same');
  else if (Array.isArray(delta)) replace(position, left, right, delta);
  else if (Array.isArray(left) && Array.isArray(right)) walkArray(position, left, right, delta as Deltas);
  else walkObject(position, left as JsonObject, right as JsonObject, delta as Deltas);
}

type JsonObject = Record<string, unknown>;
type Deltas = Record<string, Delta>;

function replace(position: Position, left: unknown, right: unknown, delta: readonly unknown[]): void {
  if (delta.length === 1) addAll(position, right, 'added');
  else if (delta.length === 3) addAll(position, left, 'removed');
  else if (isText(left) && isText(right)) replaceText(position, left, right);
  else if (isLeaf(left) && isLeaf(right)) replaceLeaf(position, left, right);
  else {
    addAll(position, left, 'removed');
    addAll(position, right, 'added');
  }
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null;
const isText = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');

function replaceLeaf({ rows, depth, name }: Position, left: unknown, right: unknown): void {
  const [before, after] = [left, right].map((value) => name + JSON.stringify(value));
  rows.push({ depth, left: before, right: after, change: 'changed' });
}

/** Longer texts are shown as removed and added as a whole: the comparison takes time and memory by the square. */
const MAX_LINES = 1500;

/** Texts of several lines are shown as such, not as JSON in one line. */
function replaceText(position: Position, left: string, right: string): void {
  if (position.name !== '') bracket(position, position.name);
  const [from, to] = [left.split('\n'), right.split('\n')];
  const line = { ...inside(position, ''), print: String };
  const isLong = from.length > MAX_LINES || to.length > MAX_LINES;
  if (isLong) {
    for (const one of from) addAll(line, one, 'removed');
    for (const one of to) addAll(line, one, 'added');
  } else walkItems(line, from, to, differ.diff(from, to) as Deltas);
}

function walkObject(position: Position, left: JsonObject, right: JsonObject, deltas: Deltas): void {
  bracket(position, `${position.name}{`);
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const key of keys)
    walk(inside(position, `${JSON.stringify(key)}: `), left[key], right[key], deltas[key]);
  bracket(position, '}');
}

function walkArray(position: Position, left: unknown[], right: unknown[], deltas: Deltas): void {
  bracket(position, `${position.name}[`);
  walkItems(inside(position, ''), left, right, deltas);
  bracket(position, ']');
}

function walkItems(item: Position, left: unknown[], right: unknown[], deltas: Deltas): void {
  let [at, to] = [0, 0];
  while (at < left.length || to < right.length) {
    const added = deltas[to];
    if (deltas[`_${at}`] !== undefined) addAll(item, left[at++], 'removed');
    else if (Array.isArray(added) && added.length === 1) addAll(item, right[to++], 'added');
    else walk(item, left[at++], right[to++], added);
  }
}

const inside = (position: Position, name: string): Position => ({
  ...position,
  depth: position.depth + 1,
  name,
});

const bracket = ({ rows, depth }: Position, text: string): void =>
  void rows.push({ depth, left: text, right: text, change: 'same' });

function addAll(position: Position, value: unknown, change: 'same' | 'added' | 'removed'): void {
  const { rows, depth, name, print } = position;
  for (const [index, line] of print(value).split('\n').entries()) {
    const text = index === 0 ? name + line : line.trimStart();
    const indent = index === 0 ? 0 : (line.length - line.trimStart().length) / 2;
    rows.push({
      depth: depth + indent,
      left: change === 'added' ? undefined : text,
      right: change === 'removed' ? undefined : text,
      change,
    });
  }
}
