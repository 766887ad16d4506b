/** Attempts of one occurrence. */
export const MOST_ATTEMPTS = 3;

/** Before the second attempt, in milliseconds; each later pause is four times as long. */
const FIRST_PAUSE_MS = 5_000;
/** What an attempt needs before the next due time, in milliseconds. */
const ROOM_MS = 5_000;

/**
 * When the next attempt is made after one that failed for a reason that may pass, in milliseconds since the epoch;
 * undefined when there is none: three were made, or it would not end before the next due time.
 */
export function nextAttemptAt(attempt: number, now: number, nextDue: number | null): number | undefined {
  if (attempt >= MOST_ATTEMPTS) return undefined;
  const at = now + FIRST_PAUSE_MS * 4 ** (attempt - 1);
  return nextDue !== null && at + ROOM_MS > nextDue ? undefined : at;
}

/** The pause before an attempt is sent again whose outcome nobody knows, in milliseconds, and the shortest one. */
const LONGEST_PAUSE_MS = 30_000;
const SHORTEST_PAUSE_MS = 500;
/** So long before the next due time it is asked once more, in milliseconds: what has ended by then is no overlap. */
const BEFORE_NEXT_MS = 1_000;

/** When an attempt is sent again whose outcome nobody knows. Times in milliseconds since the epoch. */
export function repetitionAt(repeats: number, now: number, nextDue: number | null): number {
  const at = now + Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(repeats, 10));
  if (nextDue === null || nextDue <= now || at < nextDue - BEFORE_NEXT_MS) return at;
  return Math.min(at, Math.max(now + SHORTEST_PAUSE_MS, nextDue - BEFORE_NEXT_MS));
}
