import { type Frame, spend } from '../frame.js';
import type { CelMap } from './cel-value.js';

/** Listing the keys of a large object costs more than reading one. */
const KEY_COST = 4;

export function keysOf(frame: Frame, map: CelMap): string[] {
  const keys = Object.keys(map);
  spend(frame, keys.length * KEY_COST);
  return keys;
}
