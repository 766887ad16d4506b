import { createOrrery, type Orrery, OrreryError } from '@orrery/sdk';
import { rootRouteId, useRouteContext } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';

/** `given`: the person had the key, or was shown it. `made`: a sign-in made it, and nobody else knows it. */
export type KeyOrigin = 'given' | 'made';

const KEY_ITEM = 'orrery.key';
const MADE_ITEM = 'orrery.key-made';

/** What tabs of the console say to each other: one that has no session asks, one that has one tells it. */
type Said = { readonly wanted: true } | { readonly key: string; readonly origin: KeyOrigin };

/**
 * Who is signed in: for this tab, until it is closed. A new tab takes the session of one that is open; once all are closed,
 * the next visit signs in again.
 */
export function createSession(
  storage: Storage = sessionStorage,
  tabs: Pick<BroadcastChannel, 'postMessage' | 'onmessage'> = new BroadcastChannel('orrery session'),
) {
  const listeners = new Set<() => void>();
  let key = storage.getItem(KEY_ITEM) ?? undefined;
  let reason: string | undefined;
  let isNew = key === undefined;
  let isInterrupted = false;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const isMade = () => key !== undefined && storage.getItem(MADE_ITEM) === key;
  const start = (next: string, origin: KeyOrigin) => {
    isNew = false;
    isInterrupted = false;
    key = next;
    reason = undefined;
    storage.setItem(KEY_ITEM, next);
    if (origin === 'made') storage.setItem(MADE_ITEM, next);
    else storage.removeItem(MADE_ITEM);
    tell();
  };
  tabs.onmessage = ({ data: said }: MessageEvent<Said>) => {
    if ('wanted' in said) {
      const origin = isMade() ? 'made' : 'given';
      if (key !== undefined) tabs.postMessage({ key, origin } satisfies Said);
    } else if (isNew) start(said.key, said.origin);
  };
  if (isNew) tabs.postMessage({ wanted: true } satisfies Said);
  return {
    /** The client that sends the key; the same object until the key changes. */
    orrery: createOrrery({ url: location.origin, token: () => key ?? '' }),
    /** The key, undefined before the sign-in and after the session's end. */
    current: () => key,
    /** Whether a sign-in made the key, for this session alone: a key that the person gave outlives it. */
    isMade,
    /** Whether the session ended by itself, in the middle of the work: the page stays, behind the sign-in. */
    isInterrupted: () => isInterrupted,
    /** Why the session ended, such as what the API said when it refused the key; undefined when the person left. */
    endedBy: () => reason,
    start,
    /** `why`: the API's words. */
    end: (why?: string) => {
      if (key === undefined) return;
      key = undefined;
      reason = why;
      isInterrupted = why !== undefined;
      storage.removeItem(KEY_ITEM);
      storage.removeItem(MADE_ITEM);
      tell();
    },
    /** Tells a person who has left what they should know; nothing where they have signed in again. */
    say: (words: string) => {
      if (key !== undefined) return;
      reason = words;
      tell();
    },
    /** Calls back after each change; the returned function ends that. */
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
export type Session = ReturnType<typeof createSession>;

/** Ends the session where the API refused its key: revoked, expired, or of a disabled account. */
export function endIfRefused(session: Session, error: unknown): void {
  if (error instanceof OrreryError && error.code === 'unauthorized') session.end(error.message);
}

export const useSession = (): Session => useRouteContext({ from: rootRouteId }).session;

export const useOrrery = (): Orrery => useSession().orrery;

export function useIsSignedIn(): boolean {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.current() !== undefined);
}

export function useIsInterrupted(): boolean {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.isInterrupted);
}

/** Why the last session ended, where that is to be said. */
export function useEnding(): string | undefined {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.endedBy);
}
