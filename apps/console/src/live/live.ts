import { createContext, useContext } from 'react';
import type { journalOf, Tail } from './queries.js';

/** What every part of the page is about: a deployment after one of its entries. */
export interface Live {
  readonly journal: ReturnType<typeof journalOf>;
  readonly tail: Tail;
  readonly seq: number;
  /** The same once the slider rests: what is read for each position alone waits for that. */
  readonly rested: number;
  /** Shows the state after an entry, or undefined: after the last one as entries come. */
  readonly go: (seq: number | undefined) => void;
}

export const LiveContext = createContext<Live | undefined>(undefined);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (live === undefined) throw new Error('This is no part of the live page.');
  return live;
}
