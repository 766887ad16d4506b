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

/** When an attempt is sent again whose outcome nobody knows, in milliseconds since the epoch. */
export const repetitionAt = (repeats: number, now: number): number =>
  now + Math.min(30_000, 500 * 2 ** Math.min(repeats, 10));
