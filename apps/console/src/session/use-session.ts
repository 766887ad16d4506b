import type { Orrery } from '@orrery/sdk';
import { rootRouteId, useRouteContext } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import type { Session } from './session.js';

export const useSession = (): Session => useRouteContext({ from: rootRouteId }).session;

/** The client of the person who is signed in. */
export const useOrrery = (): Orrery => useSession().orrery;

export function useIsSignedIn(): boolean {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.current() !== undefined);
}

/** Why the last session ended, where that is to be said. */
export function useEnding(): string | undefined {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.endedBy);
}
