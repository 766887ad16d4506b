import { create, type Delta } from 'jsondiffpatch';
import { diffLines } from './diff-lines.js';

/** One line of a diff of two JSON values. */
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
  walk({ rows, depth: 0, name: '' }, left, right, differ.diff(left, right));
  return rows;
}

interface Place {
  readonly rows: DiffRow[];
  readonly depth: number;
  /** What precedes the value: its key. */
  readonly name: string;
}

function walk(place: Place, left: unknown, right: unknown, delta: Delta): void {
  if (delta === undefined) addAll(place, right, 'same');
  else if (Array.isArray(delta)) replace(place, left, right, delta);
  else if (Array.isArray(left) && Array.isArray(right)) walkArray(place, left, right, delta as Deltas);
  else walkObject(place, left as JsonObject, right as JsonObject, delta as Deltas);
}

type JsonObject = Record<string, unknown>;
type Deltas = Record<string, Delta>;

function replace(place: Place, left: unknown, right: unknown, delta: readonly unknown[]): void {
  if (delta.length === 1) addAll(place, right, 'added');
  else if (delta.length === 3) addAll(place, left, 'removed');
  else if (isText(left) && isText(right)) replaceText(place, left, right);
  else if (isLeaf(left) && isLeaf(right)) replaceLeaf(place, left, right);
  else {
    addAll(place, left, 'removed');
    addAll(place, right, 'added');
  }
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null;
const isText = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');

function replaceLeaf({ rows, depth, name }: Place, left: unknown, right: unknown): void {
  const [before, after] = [left, right].map((value) => name + JSON.stringify(value));
  rows.push({ depth, left: before, right: after, change: 'changed' });
}

/** Texts of several lines are shown as such, not as JSON in one line. */
function replaceText({ rows, depth, name }: Place, left: string, right: string): void {
  if (name !== '') rows.push({ depth, left: name, right: name, change: 'same' });
  for (const line of diffLines(left.split('\n'), right.split('\n'))) rows.push({ depth: depth + 1, ...line });
}

function walkObject(place: Place, left: JsonObject, right: JsonObject, deltas: Deltas): void {
  bracket(place, `${place.name}{`);
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const key of keys) walk(inside(place, `${JSON.stringify(key)}: `), left[key], right[key], deltas[key]);
  bracket(place, '}');
}

function walkArray(place: Place, left: unknown[], right: unknown[], deltas: Deltas): void {
  bracket(place, `${place.name}[`);
  const item = inside(place, '');
  let [at, to] = [0, 0];
  while (at < left.length || to < right.length) {
    const added = deltas[to];
    if (deltas[`_${at}`] !== undefined) addAll(item, left[at++], 'removed');
    else if (Array.isArray(added) && added.length === 1) addAll(item, right[to++], 'added');
    else walk(item, left[at++], right[to++], added);
  }
  bracket(place, ']');
}

const inside = ({ rows, depth }: Place, name: string): Place => ({ rows, depth: depth + 1, name });

const bracket = ({ rows, depth }: Place, text: string): void =>
  void rows.push({ depth, left: text, right: text, change: 'same' });

function addAll({ rows, depth, name }: Place, value: unknown, change: 'same' | 'added' | 'removed'): void {
  for (const [index, line] of (JSON.stringify(value, null, 2) ?? '').split('\n').entries()) {
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
