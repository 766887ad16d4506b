import { useCallback, useEffect, useState } from 'react';
import { useLiveSearch } from './use-live-search.js';

/** The address follows the slider when it has rested this long, in milliseconds: browsers bound how often it may change. */
const REST_MS = 200;

export interface PositionState {
  /** The entry after which the state is shown. */
  readonly seq: number;
  /** The same once the slider rests: what is read for each place alone waits for that. */
  readonly rested: number;
  /** Whether it is the last one, as entries come. */
  readonly isFollowing: boolean;
  /** Shows the state after an entry, or undefined: after the last one as entries come. */
  readonly go: (seq: number | undefined) => void;
}

/** Where in the journal one is: what the address says, or the slider while it moves. */
export function usePosition(head: number): PositionState {
  const [search, change] = useLiveSearch();
  const [moving, setMoving] = useState<{ to: number | undefined }>();
  useEffect(() => {
    if (moving === undefined) return;
    const timer = setTimeout(() => {
      void change({ seq: moving.to }).then(() => setMoving((now) => (now === moving ? undefined : now)));
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [moving, change]);
  const asked = moving === undefined ? search.seq : moving.to;
  const go = useCallback((to: number | undefined) => setMoving({ to }), []);
  return { seq: asked ?? head, rested: search.seq ?? head, isFollowing: asked === undefined, go };
}
