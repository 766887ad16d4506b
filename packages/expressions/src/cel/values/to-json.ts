import { isCleanText, type JsonValue } from '@orrery/contracts';
import { EvaluationFailure, fail } from '../frame.js';
import { BeyondJson, type CelMap, type CelValue } from './cel-value.js';
import { toJsonNumber } from './numbers.js';
import { valueToText } from './value-to-text.js';

/** What a result may still hold. A result can share parts many times over, so it is counted as it is written out. */
export interface ResultRoom {
  values: number;
  characters: number;
  maxDepth: number;
}

const POLLUTING_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Writes a value out as fresh JSON that shares nothing with what the expression read. */
export function toJson(value: CelValue, room: ResultRoom, depth: number): JsonValue {
  if (--room.values < 0 || depth > room.maxDepth)
    throw new EvaluationFailure('the result is too large', true);
  if (typeof value === 'string') return resultText(value, room);
  if (typeof value === 'number' || typeof value === 'bigint') return toJsonNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toJson(item, room, depth + 1));
  if (value instanceof BeyondJson) return resultText(valueToText(value), room);
  return mapToJson(value, room, depth);
}

function mapToJson(map: CelMap, room: ResultRoom, depth: number): JsonValue {
  const result: Record<string, JsonValue> = {};
  for (const key of Object.keys(map)) {
    result[resultKey(key, room)] = toJson(map[key] ?? null, room, depth + 1);
  }
  return result;
}

/** Text of a result: U+0000 and lone surrogates are refused as they are at every entrance (decisions §8). */
export function resultText(text: string, room: ResultRoom): string {
  room.characters -= text.length;
  if (room.characters < 0) throw new EvaluationFailure('the result is too large', true);
  return isCleanText(text) ? text : fail('the result holds U+0000 or a lone surrogate');
}

export function resultKey(key: string, room: ResultRoom): string {
  return POLLUTING_KEYS.has(key) ? fail(`the key "${key}" is not allowed`) : resultText(key, room);
}
