import { cutText } from '../json/json.js';
import { type FieldProblem, MAX_FOUND, type SuggestedProblem, suggested } from '../json/problems.js';

/** Longer names are not compared: the work grows with the square of the length. */
const MAX_LENGTH = 64;
/** Names that are looked through; a world has no more schemas or events. */
const MAX_CANDIDATES = 500;

/** Typing errors that still make a name the one meant, by its length: short names differ by less. */
const boundFor = (length: number): number => (length < 3 ? 0 : Math.min(3, Math.floor((length + 1) / 3)));

/** ` Did you mean "wins"?`, to follow a sentence; empty where no candidate is near enough. At most one is suggested. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = closest(name, candidates);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

/**
 * The candidate that differs from the name by the fewest typing errors: letters left out, added, replaced or exchanged
 * with their neighbour. The case of letters does not count. Undefined where none is near, or the name is one of them.
 */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const letters = name.toLowerCase();
  let best: string | undefined;
  let least = boundFor(name.length) + 1;
  let left = MAX_CANDIDATES;
  for (const candidate of candidates) {
    if (candidate === name) return undefined;
    if (--left < 0) break;
    const errors = typingErrors(letters, candidate.toLowerCase(), least);
    if (errors >= least) continue;
    least = errors;
    best = candidate;
  }
  return best;
}

/**
 * Damerau–Levenshtein distance (optimal string alignment), or `bound` where it is not below that. Only the cells of the
 * table are computed that lie near enough to its diagonal to stay below the bound, and three rows of it are kept: a
 * stranger's names may each be compared with hundreds.
 */
function typingErrors(one: string, other: string, bound: number): number {
  if (Math.abs(one.length - other.length) >= bound) return bound;
  let older: number[] = [];
  let old = Array.from({ length: other.length + 1 }, (_, column) => column);
  let cells: number[] = [];
  let before = 0;
  for (let row = 1; row <= one.length; row += 1) {
    const least = fillRow({ cells, old, older }, { one, other, row, bound });
    // Every later cell grows from one of two rows: names that have nothing in common end here.
    if (least >= bound && before >= bound) return bound;
    before = least;
    [older, old, cells] = [old, cells, older];
  }
  return Math.min(bound, old[other.length] ?? bound);
}

/** A row of the table, and the two above it. */
interface Rows {
  readonly cells: number[];
  readonly old: readonly number[];
  readonly older: readonly number[];
}

/** Fills a row and returns its least cell. What is not computed lies at or beyond the bound. */
function fillRow(
  { cells, old, older }: Rows,
  { one, other, row, bound }: { one: string; other: string; row: number; bound: number },
): number {
  const from = Math.max(1, row - bound);
  const to = Math.min(other.length, row + bound);
  const [letter, letterBefore] = [one.charCodeAt(row - 1), one.charCodeAt(row - 2)];
  let least = row;
  let errors = from === 1 ? row : bound;
  cells[from - 1] = errors;
  for (let column = from; column <= to; column += 1) {
    const another = other.charCodeAt(column - 1);
    const replaced = (old[column - 1] ?? bound) + (letter === another ? 0 : 1);
    errors = Math.min(replaced, errors + 1, (old[column] ?? bound) + 1);
    if (letterBefore === another && letter === other.charCodeAt(column - 2))
      errors = Math.min(errors, (older[column - 2] ?? bound) + 1);
    cells[column] = errors;
    least = Math.min(least, errors);
  }
  cells[to + 1] = bound;
  return least;
}

/** Characters of a text that a message repeats. */
const SHOWN_LENGTH = 40;

/** A value in the words of a message, with its type: `the text "7"`, `the number 7`, `true`, `null`, `a list of 3`. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string')
    return value === '' ? 'an empty text' : `the text ${JSON.stringify(cutText(value, SHOWN_LENGTH))}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** The suggestion to write another name; none without one. */
export const writeInstead = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : `Write "${name}".`;

/** What an answer says beside its data. */
export interface Said {
  readonly message?: string;
  readonly warnings?: SuggestedProblem[];
}

/** The members of an answer that tell likely mistakes that are allowed, each once, beside what else it has to say. */
export function withWarnings(warnings: readonly FieldProblem[], message?: string | undefined): Said {
  // A key and the value at it may have the same mistake at the same pointer.
  const distinct = new Map(warnings.map((warning) => [`${warning.pointer} ${warning.message}`, warning]));
  const told = [...distinct.values()].slice(0, MAX_FOUND).map(suggested);
  return { ...(message !== undefined && { message }), ...(told.length > 0 && { warnings: told }) };
}
