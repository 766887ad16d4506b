import { createOrrery, type Orrery, OrreryError } from '@orrery/sdk';
import { rootRouteId, useRouteContext } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';

/** Who is signed in: for this tab, until it is closed. */
export interface Session {
  /** The client that sends the key; the same object until the key changes. */
  readonly orrery: Orrery;
  /** The key, undefined before the sign-in and after the session's end. */
  current(): string | undefined;
  /** Whether a sign-in made the key, for this session alone: a key that the person gave outlives it. */
  isMade(): boolean;
  /** Why the session ended, such as what the API said when it refused the key; undefined when the person left. */
  endedBy(): string | undefined;
  start(key: string, origin: KeyOrigin): void;
  /** `reason`: the API's words. */
  end(reason?: string): void;
  /** Tells a person who has left what they should know; nothing where they have signed in again. */
  say(reason: string): void;
  /** Calls back after each change; the returned function ends that. */
  subscribe(listener: () => void): () => void;
}

/** `given`: the person had the key, or was shown it. `made`: a sign-in made it, and nobody else knows it. */
export type KeyOrigin = 'given' | 'made';

const KEY_ITEM = 'orrery.key';
const MADE_ITEM = 'orrery.key-made';

/** `storage` is the tab's: other tabs, and the next visit, sign in again. */
export function createSession(storage: Storage = sessionStorage): Session {
  const listeners = new Set<() => void>();
  let key = storage.getItem(KEY_ITEM) ?? undefined;
  let reason: string | undefined;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  return {
    orrery: createOrrery({ url: location.origin, token: () => key ?? '' }),
    current: () => key,
    isMade: () => key !== undefined && storage.getItem(MADE_ITEM) === key,
    endedBy: () => reason,
    start: (next, origin) => {
      key = next;
      reason = undefined;
      storage.setItem(KEY_ITEM, next);
      if (origin === 'made') storage.setItem(MADE_ITEM, next);
      else storage.removeItem(MADE_ITEM);
      tell();
    },
    end: (why) => {
      if (key === undefined) return;
      key = undefined;
      reason = why;
      storage.removeItem(KEY_ITEM);
      storage.removeItem(MADE_ITEM);
      tell();
    },
    say: (words) => {
      if (key !== undefined) return;
      reason = words;
      tell();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

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

/** Why the last session ended, where that is to be said. */
export function useEnding(): string | undefined {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.endedBy);
}
