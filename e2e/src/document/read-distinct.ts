import type { Exchange } from '@orrery/testing/system';
import { firstOfItsKind } from './first-of-its-kind.js';
import { whyLeftOut } from './left-out.js';
import { readRecording } from './read-recording.js';

/** What is there to be judged in a recording. */
export interface Recording {
  readonly distinct: readonly Exchange[];
  /** How many exchanges there are, are left out and why, and are distinct: for a reader. */
  readonly figures: string;
}

/** Reads the exchanges of a folder and keeps those that a validator could judge differently. */
export async function readDistinct(folder: string): Promise<Recording> {
  const isFirst = firstOfItsKind();
  const distinct: Exchange[] = [];
  const leftOut = new Map<string, number>();
  let seen = 0;
  for await (const exchange of readRecording(folder)) {
    seen += 1;
    const why = whyLeftOut(exchange);
    if (why !== undefined) leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
    else if (isFirst(exchange)) distinct.push(exchange);
  }
  const without = [...leftOut].map(([why, count]) => `${count} left out (${why})`);
  return { distinct, figures: [`${seen} exchanges`, ...without, `${distinct.length} distinct`].join(', ') };
}
