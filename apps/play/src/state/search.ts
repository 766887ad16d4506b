import { useEffect, useState } from 'preact/hooks';
import type { OpenWorld, WorldStore } from '../world/follow-world.js';
import type { Found, Row } from '../world/records.js';
import { type Order, orderText } from './columns.js';

interface SearchProps {
  readonly world: OpenWorld;
  readonly store: WorldStore;
  readonly schema: string;
  readonly find: string;
  readonly order: Order | undefined;
  readonly isSearching: boolean;
}

/** What is told of a search. */
interface Told {
  /** Undefined: nothing is found yet, or it did not work. */
  readonly rows?: readonly Row[];
  /** There are more. */
  readonly isCut?: boolean;
  readonly fault?: string;
}

/** What became of the last search, and what was asked there. */
interface Answered extends Told {
  readonly question: string;
}

/** What is asked, at which moment: the answer to another question is none to this one. */
export const questionOf = (
  { moment }: Pick<OpenWorld, 'moment'>,
  { schema, find, order }: Pick<SearchProps, 'schema' | 'find' | 'order'>,
): string => JSON.stringify([moment ?? null, schema, find, order && orderText(order)]);

/** What was found stays where the same question is asked again in vain. */
export const answered = (before: Told, question: string, outcome: Found | { fault: string }): Answered =>
  'fault' in outcome ? { ...before, ...outcome, question } : { ...outcome, question };

/** A search looks at the server's instances again after so long, while entries come. */
const SEARCH_AGAIN_MS = 3000;
const TYPED_MS = 300;
const NOTHING: Told = {};

/** What the server finds; again while entries come, but not at each. */
export function useSearch({ world, store, schema, find, order, isSearching }: SearchProps): Told {
  const [last, setLast] = useState<Answered>();
  const question = questionOf(world, { schema, find, order });
  const orderBy = order === undefined ? '' : orderText(order);
  const epoch = useEpoch(world.seq);
  const told = (one: Answered | undefined): Told => (one?.question === question ? one : NOTHING);
  useEffect(() => {
    if (!isSearching) return setLast(undefined);
    const leaving = new AbortController();
    const settle = (outcome: Found | { fault: string }) => {
      if (!leaving.signal.aborted) setLast((before) => answered(told(before), question, outcome));
    };
    const timer = setTimeout(() => {
      store
        .search(schema, { find, orderBy }, leaving.signal)
        .then(settle, (error: Error) => settle({ fault: error.message }));
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [question, isSearching, epoch, store]);
  return told(last);
}

/** Changes with `seq`, some time later and not more often than a search is made again. */
function useEpoch(seq: number): number {
  const [epoch, setEpoch] = useState(seq);
  const isBehind = epoch !== seq;
  useEffect(() => {
    if (!isBehind) return;
    // Not put off by each entry that comes meanwhile.
    const timer = setTimeout(() => setEpoch(seq), SEARCH_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [epoch, isBehind]);
  return epoch;
}
