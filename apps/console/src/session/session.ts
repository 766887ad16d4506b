import { createOrrery, type Orrery, OrreryError } from '@orrery/sdk';

/** Who is signed in: for this tab, until it is closed. */
export interface Session {
  /** The client that sends the key; the same object until the key changes. */
  readonly orrery: Orrery;
  /** The key, undefined before the sign-in and after the session's end. */
  current(): string | undefined;
  /** What the API said when it refused the key; undefined when the person left by themselves. */
  endedBy(): string | undefined;
  start(key: string): void;
  /** `reason`: the API's words. */
  end(reason?: string): void;
  /** Calls back after each change; the returned function ends that. */
  subscribe(listener: () => void): () => void;
}

const PLACE = 'orrery.key';

/** `storage` is the tab's: other tabs, and the next visit, sign in again. */
export function createSession(storage: Storage = sessionStorage): Session {
  const listeners = new Set<() => void>();
  let key = storage.getItem(PLACE) ?? undefined;
  let reason: string | undefined;
  const change = (next: string | undefined, why?: string) => {
    key = next;
    reason = why;
    if (next === undefined) storage.removeItem(PLACE);
    else storage.setItem(PLACE, next);
    for (const listener of listeners) listener();
  };
  return {
    orrery: createOrrery({ url: location.origin, token: () => key ?? '' }),
    current: () => key,
    endedBy: () => reason,
    start: (next) => change(next),
    end: (why) => {
      if (key !== undefined) change(undefined, why);
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
