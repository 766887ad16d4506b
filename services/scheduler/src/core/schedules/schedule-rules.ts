import { type CronSchedule, countDue, latestDue, nextDue } from '@orrery/expressions';
import type { OccurrenceKind } from '../occurrences/occurrence.js';

/** A schedule as far as its due times go. All times are milliseconds since the epoch, by the database's clock. */
export interface Timing {
  /** Null where the event is not bound, or its version has no schedule. */
  readonly cron: CronSchedule | null;
  readonly isPaused: boolean;
  readonly deploymentPaused: boolean;
  /** The first due time that is not decided; null while nothing is due. */
  readonly nextAt: number | null;
  /** Every due time up to here has its row, or lies in a pause. */
  readonly decidedUntil: number;
}

/** A row of the ledger that is not executed. */
export interface LedgerRow {
  readonly kind: Exclude<OccurrenceKind, 'manual'>;
  readonly dueAt: number;
  /** Of a span or a pause; null for one due time and for a pause that lasts. */
  readonly until: number | null;
  readonly count: number;
  readonly status: 'missed' | 'skipped' | 'paused';
  readonly reason: string;
}

/** Missed due times that get a row each; the older ones share one. */
export const MOST_LISTED = 100;
/** A due time that is noticed this late is missed. */
const TOO_LATE_MS = 60 * 60 * 1000;

const runs = ({ cron, isPaused, deploymentPaused }: Timing): boolean =>
  cron !== null && !isPaused && !deploymentPaused;
const isHeld = ({ cron, isPaused, deploymentPaused }: Timing): boolean =>
  cron !== null && (isPaused || deploymentPaused);

/** The rows of due times that were not executed, of a span whose end is included. */
function missed(cron: CronSchedule, after: number, until: number, reason: string): LedgerRow[] {
  const listed = latestDue(cron, { after, until }, MOST_LISTED);
  const [first] = listed;
  if (first === undefined) return [];
  const older = listed.length < MOST_LISTED ? 0 : countDue(cron, { after, until: first - 1 });
  const row = (dueAt: number): LedgerRow => ({
    kind: 'due',
    dueAt,
    until: null,
    count: 1,
    status: 'missed',
    reason,
  });
  if (older === 0) return listed.map(row);
  const span = {
    kind: 'span' as const,
    dueAt: nextDue(cron, after) ?? first,
    until: latestDue(cron, { after, until: first - 1 }, 1)[0] ?? first,
    count: older,
  };
  return [{ ...row(first), ...span }, ...listed.map(row)];
}

export interface Change {
  readonly timing: Timing;
  readonly ledger: readonly LedgerRow[];
  /** When the pause ended that lasted before, if it did. */
  readonly pauseEnded: number | null;
}

/**
 * A schedule after a change at a time, and what the ledger says of the time before: due times that were not executed are
 * missed for this reason, and a pause begins or ends. What is decided already stays decided.
 */
export function changeTiming(
  before: Timing,
  change: Partial<Pick<Timing, 'cron' | 'isPaused' | 'deploymentPaused'>>,
  time: number,
  reason: string,
): Change {
  const at = Math.max(time, before.decidedUntil);
  const changed = { ...before, ...change };
  const ledger: LedgerRow[] = [];
  if (before.cron !== null && runs(before) && before.nextAt !== null && before.nextAt <= at)
    ledger.push(...missed(before.cron, before.nextAt - 1, at, reason));
  if (!isHeld(before) && isHeld(changed)) ledger.push(pauseFrom(at, changed));
  const nextAt = changed.cron !== null && runs(changed) ? (nextDue(changed.cron, at) ?? null) : null;
  return {
    timing: { ...changed, nextAt, decidedUntil: at },
    ledger,
    pauseEnded: isHeld(before) && !isHeld(changed) ? at : null,
  };
}

/** A pause that begins, whatever began it: what is bound while its deployment is paused is paused with it. */
const pauseFrom = (at: number, { isPaused }: Timing): LedgerRow => ({
  kind: 'pause',
  dueAt: at,
  until: null,
  count: 1,
  status: 'paused',
  reason: isPaused ? 'schedule_paused' : 'deployment_paused',
});

export interface DueDecision {
  /** The due time to execute. */
  readonly dueAt: number | null;
  readonly ledger: readonly LedgerRow[];
  readonly nextAt: number | null;
  readonly decidedUntil: number;
}

/**
 * Decides the due times up to now: the latest is executed if it is at most an hour old, all others are missed. The next
 * due time follows from the latest one, not from the time at which it was noticed.
 */
export function decideDue(cron: CronSchedule, firstDue: number, now: number): DueDecision {
  const second = nextDue(cron, firstDue);
  const isBehind = second !== undefined && second <= now;
  const [last = firstDue] = isBehind ? latestDue(cron, { after: firstDue, until: now }, 1) : [firstDue];
  const isMissed = now - last > TOO_LATE_MS;
  const ledger =
    isBehind || isMissed ? missed(cron, firstDue - 1, isMissed ? last : last - 1, 'downtime') : [];
  return {
    dueAt: isMissed ? null : last,
    ledger,
    nextAt: (isBehind ? nextDue(cron, last) : second) ?? null,
    decidedUntil: last,
  };
}

/** Whether two definitions are due at the same times. */
export const isSameCron = (one: CronSchedule | null, other: CronSchedule | null): boolean =>
  one?.schedule === other?.schedule && (one?.timezone ?? 'UTC') === (other?.timezone ?? 'UTC');
