import { type FieldProblem, fieldProblem } from '../errors/field-problem.js';
import { childPointer } from './json-value.js';

/** Nesting levels that any JSON from outside may have. */
export const MAX_JSON_DEPTH = 32;

const POLLUTING_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Names that reach an object's prototype: no key of JSON from outside, no attribute, schema or instance has one. */
export const isPollutingKey = (key: string): boolean => POLLUTING_KEYS.has(key);

/** U+0000 (PostgreSQL cannot store it) or half of a surrogate pair (not UTF-8). */
export const isCleanText = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/**
 * Finds the first thing in parsed JSON that no service accepts: too deep, a polluting key, a number that is not
 * finite, U+0000 or a lone surrogate. Walks with its own stack, so hostile depth cannot overflow ours.
 */
export function findUnsafeJson(root: unknown, maxDepth = MAX_JSON_DEPTH): FieldProblem | undefined {
  return isSafe(root, maxDepth) ? undefined : firstProblem(root, maxDepth);
}

/** Nearly everything is safe: said several times faster than where it is not. */
function isSafe(value: unknown, levels: number): boolean {
  if (levels < 0) return false;
  if (typeof value === 'string') return isCleanText(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every((child) => isSafe(child, levels - 1));
  for (const key of Object.keys(value)) {
    if (POLLUTING_KEYS.has(key) || !isCleanText(key)) return false;
    if (!isSafe((value as Record<string, unknown>)[key], levels - 1)) return false;
  }
  return true;
}

function firstProblem(root: unknown, maxDepth: number): FieldProblem | undefined {
  const pending: Place[] = [{ value: root, pointer: '', depth: 0 }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const problem = problemAt(place, maxDepth);
    if (problem !== undefined) return problem;
    if (typeof place.value === 'object' && place.value !== null) pushChildren(place, place.value, pending);
  }
  return undefined;
}

interface Place {
  value: unknown;
  pointer: string;
  depth: number;
  key?: string;
}

function problemAt({ value, pointer, depth, key }: Place, maxDepth: number): FieldProblem | undefined {
  if (key !== undefined && POLLUTING_KEYS.has(key))
    return fieldProblem(pointer, 'forbidden_key', `The key "${key}" is not allowed.`);
  if (key !== undefined && !isCleanText(key))
    return fieldProblem(pointer, 'invalid_text', 'A key contains U+0000 or a lone surrogate.');
  if (typeof value === 'string' && !isCleanText(value))
    return fieldProblem(pointer, 'invalid_text', 'The text contains U+0000 or a lone surrogate.');
  if (typeof value === 'number' && !Number.isFinite(value))
    return fieldProblem(pointer, 'number_out_of_range', 'The number is too large.');
  if (depth > maxDepth)
    return fieldProblem(pointer, 'too_deep', `JSON may be at most ${maxDepth} levels deep.`);
  return undefined;
}

function pushChildren(place: Place, value: object, pending: Place[]): void {
  const depth = place.depth + 1;
  if (Array.isArray(value)) {
    value.forEach((child, index) => {
      pending.push({ value: child, pointer: `${place.pointer}/${index}`, depth });
    });
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    pending.push({ value: child, pointer: childPointer(place.pointer, key), depth, key });
  }
}
