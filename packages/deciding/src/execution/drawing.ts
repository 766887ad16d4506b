import type { EntryRandomness, Recorded } from '@orrery/contracts';
import { Draws } from '@orrery/expressions';
import { bytesOf } from '../randomness/seed.js';
import type { Execution } from './execution.js';

/** The random numbers of one decision: each decision of an execution draws the same ones from the start. */
export interface Drawing {
  /** Undefined: the version draws nothing. */
  readonly draws: Draws | undefined;
  /** What the entry says of what was drawn; undefined: nothing was. */
  recorded(): Recorded | undefined;
}

const NOTHING: Drawing = { draws: undefined, recorded: () => undefined };

export function startDrawing({ definition, randomness: source }: Execution): Drawing {
  if (!definition.draws || source === undefined) return NOTHING;
  let randomness: EntryRandomness | undefined;
  const draws = new Draws(() => {
    randomness = source.take();
    return bytesOf(randomness.seed);
  });
  return { draws, recorded: () => randomness && { randomness } };
}
