import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { DeploymentRef } from '../api/records.js';
import { useOrrery } from '../session/session.js';
import { useLiveSearch } from './live-search.js';
import { endQuery } from './queries.js';

/** The address follows the slider when it has rested this long, in milliseconds: browsers bound how often it may change. */
const REST_MS = 200;

/** Where in the journal one is: what the address says, or the slider while it moves. */
export function usePosition(deployment: DeploymentRef, head: number) {
  const [search, change] = useLiveSearch();
  const [moving, setMoving] = useState<{ to: number | undefined }>();
  const [missing, setMissing] = useState<number>();
  useEffect(() => {
    if (moving === undefined) return;
    const timer = setTimeout(() => {
      void change({ seq: moving.to }).then(() => setMoving((now) => (now === moving ? undefined : now)));
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [moving, change]);
  const asked = moving === undefined ? search.seq : moving.to;
  const { end, isSure } = useEnd(deployment, head, asked);
  const isMissing = isSure && asked !== undefined && asked > end;
  useEffect(() => {
    if (!isMissing) return;
    setMissing(asked);
    setMoving({ to: undefined });
  }, [isMissing, asked]);
  const go = useCallback((to: number | undefined) => {
    setMissing(undefined);
    setMoving({ to });
  }, []);
  return {
    seq: Math.min(asked ?? head, end),
    /** The same once the slider rests: what is read for each position alone waits for that. */
    rested: Math.min(search.seq ?? head, end),
    /** Whether it is the last one, as entries come. */
    isFollowing: asked === undefined || asked > end,
    /** An entry after the end that was asked for: the last one is shown instead. */
    missing: asked === undefined && missing !== undefined && missing > head ? missing : undefined,
    /** Shows the state after an entry, or undefined: after the last one as entries come. */
    go,
  };
}
export type PositionState = ReturnType<typeof usePosition>;

/** Where the journal ends. The stream may lag: of an entry after the known end the server is asked. */
function useEnd(deployment: DeploymentRef, head: number, asked: number | undefined) {
  const isAfter = asked !== undefined && asked > head;
  const query = useQuery({ ...endQuery(useOrrery(), deployment, asked), enabled: isAfter });
  return { end: Math.max(head, (isAfter && query.data) || 0), isSure: !isAfter || query.data !== undefined };
}
