import type { EntryRandomness, Recorded } from '@orrery/contracts';
import { Draws } from '@orrery/expressions';
import { bytesOf, type RandomSource } from '../randomness/seed.js';

/** The random numbers of one decision: each decision of an execution draws the same ones from the start. */
export interface Drawing {
  readonly draws: Draws;
  /** What the entry says of what was drawn; undefined: nothing was. */
  recorded(): Recorded | undefined;
}

export function startDrawing(source: RandomSource): Drawing {
  let randomness: EntryRandomness | undefined;
  const draws = new Draws(() => {
    randomness = source.take();
    return bytesOf(randomness.seed);
  });
  return { draws, recorded: () => randomness && { randomness } };
}
