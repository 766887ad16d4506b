import {
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toNfc,
} from '@orrery/contracts';
import { numberToText } from '../cel/values/cel-value.js';

/** instanceIds that a path selects, in order, duplicates included. */
export type PathResult = { ok: true; ids: string[] } | { ok: false; problem: FieldProblem };

/** Ids that one path may select; the runtime reads at most 500 instances (docs/execution.md). */
const MAX_IDS = 10_000;

/**
 * Reads a `filter` path (`race.horses`) from the input. Absent or null selects nothing, a list each of its elements
 * (also half way: `horses.id` reads the id of each; a number picks one: `horses.0`), numbers are taken as text; an
 * object or a boolean is a problem. Ids are in NFC, as instanceIds are stored.
 */
export function readPath(input: JsonObject, path: string): PathResult {
  const ids: string[] = [];
  const found = select(input, path.split('.'), 0, ids);
  if (found) return { ok: true, ids };
  const message = `The filter path "${path}" must lead to text, a number or a list of them.`;
  return {
    ok: false,
    problem: fieldProblem(`/${path.replaceAll('.', '/')}`, 'invalid_filter_value', message),
  };
}

function select(value: JsonValue | undefined, steps: readonly string[], at: number, ids: string[]): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return selectFromList(value, steps, at, ids);
  const step = steps[at];
  if (step === undefined) return take(value, ids);
  if (!isJsonObject(value)) return true;
  return select(Object.hasOwn(value, step) ? value[step] : undefined, steps, at + 1, ids);
}

function selectFromList(list: JsonValue[], steps: readonly string[], at: number, ids: string[]): boolean {
  const step = steps[at];
  if (step !== undefined && /^\d{1,9}$/.test(step)) return select(list[Number(step)], steps, at + 1, ids);
  return list.every((element) => select(element, steps, at, ids));
}

function take(value: JsonValue, ids: string[]): boolean {
  if (ids.length >= MAX_IDS || (typeof value !== 'string' && typeof value !== 'number')) return false;
  ids.push(typeof value === 'number' ? numberToText(value) : toNfc(value));
  return true;
}
