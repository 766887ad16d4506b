import {
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  mayNeedNfc,
  toNfc,
} from '@orrery/contracts';
import { numberToText } from '../cel/values/cel-value.js';

/** instanceIds that a path selects, in order, duplicates included. */
export type PathResult = { ok: true; ids: string[] } | { ok: false; problem: FieldProblem };

/** Ids that one path may select; the runtime reads at most 500 instances (docs/execution.md). */
const MAX_IDS = 10_000;

/** Values of the input that paths may still go through, and characters that they may normalize. */
export interface PathWork {
  left: number;
}

/** For all paths of an execution: at most some 20 ms. */
export const pathWork = (): PathWork => ({ left: 500_000 });

/** Thrown when the work is used up, or too many ids are selected; `readPath` catches it. */
class SearchEnded extends Error {}

const TOO_MANY_VALUES = 'The filter paths go through too many values of the input.';

/**
 * Reads a `filter` path (`race.horses`) from the input. Absent or null selects nothing, a list each of its elements
 * (also half way: `horses.id` reads the id of each; a number picks one: `horses.0`), numbers are taken as text; an
 * object or a boolean is a problem. Ids are in NFC, as instanceIds are stored.
 */
export function readPath(input: JsonObject, path: string, work: PathWork = pathWork()): PathResult {
  const search: Search = { path, steps: path.split('.'), ids: [], work };
  try {
    if (select(input, 0, search)) return { ok: true, ids: search.ids };
  } catch (error) {
    if (!(error instanceof SearchEnded)) throw error;
    return refuse(path, error.message);
  }
  return refuse(path, `The filter path "${path}" must lead to text, a number or a list of them.`);
}

interface Search {
  readonly path: string;
  readonly steps: readonly string[];
  readonly ids: string[];
  readonly work: PathWork;
}

function refuse(path: string, message: string): PathResult {
  return {
    ok: false,
    problem: fieldProblem(`/${path.replaceAll('.', '/')}`, 'invalid_filter_value', message),
  };
}

function select(value: JsonValue | undefined, at: number, search: Search): boolean {
  if (--search.work.left < 0) throw new SearchEnded(TOO_MANY_VALUES);
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return selectFromList(value, at, search);
  const step = search.steps[at];
  if (step === undefined) return take(value, search);
  if (!isJsonObject(value)) return true;
  return select(Object.hasOwn(value, step) ? value[step] : undefined, at + 1, search);
}

function selectFromList(list: JsonValue[], at: number, search: Search): boolean {
  const step = search.steps[at];
  if (step !== undefined && /^\d{1,9}$/.test(step)) return select(list[Number(step)], at + 1, search);
  return list.every((element) => select(element, at, search));
}

/** To write a number out takes as long as going through so many values; a text is normalized character by character. */
const NUMBER_WORK = 4;

function take(value: JsonValue, { path, ids, work }: Search): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  if (ids.length >= MAX_IDS)
    throw new SearchEnded(`The filter path "${path}" selects more than ${MAX_IDS} instances.`);
  work.left -= typeof value === 'number' || !mayNeedNfc(value) ? NUMBER_WORK : value.length;
  if (work.left < 0) throw new SearchEnded(TOO_MANY_VALUES);
  ids.push(typeof value === 'number' ? numberToText(value) : toNfc(value));
  return true;
}
