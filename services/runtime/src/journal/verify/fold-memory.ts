import type { JsonObject } from '@orrery/contracts';
import { LRUCache } from 'lru-cache';
import type { FoldedState } from './evidence-store.js';

/** Characters of the states that are remembered between groups; others are read again from their last checkpoint. */
const REMEMBERED = 48 * 1024 * 1024;
/** What a state takes beside its JSON. */
const OVERHEAD = 200;
/** A size that has grown by guesses beyond this is measured again. */
const GUESSED_TO = 80 * 1024;

/** The states as the fold has them, as far as they are remembered. `state` null: absent. */
export interface FoldMemory {
  get(key: string): FoldedState | undefined;
  /** `set`: what the last change set, where the state was remembered before. */
  put(key: string, state: FoldedState, set?: JsonObject): void;
}

interface Remembered {
  state: FoldedState;
  size: number;
}

export function createFoldMemory(maxSize = REMEMBERED): FoldMemory {
  const states = new LRUCache<string, Remembered>({ maxSize, sizeCalculation: ({ size }) => size });
  return {
    get: (key) => states.get(key)?.state,
    put: (key, state, set) => {
      const before = states.peek(key)?.size;
      const guess = before === undefined || set === undefined ? GUESSED_TO : before + lengthOf(set);
      states.set(key, { state, size: guess < GUESSED_TO ? guess : lengthOf(state.state) + OVERHEAD });
    },
  };
}

const lengthOf = (state: JsonObject | null): number => JSON.stringify(state).length;
