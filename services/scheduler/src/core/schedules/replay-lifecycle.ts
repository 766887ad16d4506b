import type { LifecycleEntry } from '@orrery/contracts';
import type { CronSchedule } from '@orrery/expressions';
import { timestampOf } from '@orrery/service-kit';
import { changeTiming, isSameCron, type LedgerRow, type Timing } from './schedule-rules.js';

/** What happened to a deployment since its schedule was last synced. */
export interface Replayed {
  readonly event: string;
  readonly entries: readonly LifecycleEntry[];
  /** What pauses the deployment, before the entries. */
  readonly pauseCauses: readonly string[];
  /** Whether it is paused now. */
  readonly isPaused: boolean;
  /** What the bound version says now; null where nothing is bound, or the version has no schedule. */
  readonly cron: CronSchedule | null;
  /** The version that is bound is the one that was. */
  readonly isSameVersion: boolean;
  /** The number of the version that was bound before the entries; null where none was. */
  readonly versionBefore: number | null;
  readonly now: number;
  /** None of the entries had been written then, by the database's clock. */
  readonly since: number;
}

export interface Replay {
  readonly timing: Timing;
  readonly ledger: readonly LedgerRow[];
  /** When the pause ended that the ledger knows already. */
  readonly pauseEnded: number | null;
}

type Step = Parameters<typeof changeTiming>[1];

/**
 * Goes through the entries in their order: the old definition holds until the first entry that changed the event's
 * binding, the present one from the last such entry on, and pauses hold while they lasted. None
 * counts as later than now, as earlier than `since`, or as earlier than what is decided.
 */
export function replayLifecycle(timing: Timing, replayed: Replayed): Replay {
  const { entries, cron, isPaused, now, since } = replayed;
  const { ended, begun } = turningPoints(timing, replayed);
  const causes = new Set(replayed.pauseCauses);
  let state: Replay = { timing, ledger: [], pauseEnded: null };
  const apply = (step: Step, at: number, reason: string) => {
    state = merge(state, changeTiming(state.timing, step, at, reason));
  };
  for (const entry of entries) {
    const at = Math.min(Math.max(Date.parse(entry.at), since), now);
    if (entry === ended) apply({ cron: null }, at, 'binding_changed');
    if (entry === begun) apply({ cron }, at, 'binding_changed');
    applyPause(causes, entry);
    const deploymentPaused = causes.size > 0;
    if (deploymentPaused !== state.timing.deploymentPaused)
      apply({ deploymentPaused }, at, 'deployment_paused');
    if (entry.kind === 'deleted') apply({ cron: null }, at, 'deployment_deleted');
  }
  if (state.timing.deploymentPaused !== isPaused)
    apply({ deploymentPaused: isPaused }, now, 'deployment_paused');
  if (!isSameCron(state.timing.cron, cron)) apply({ cron }, now, 'definition_changed');
  return state;
}

/** The entry with which the old definition ended, and the one with which the present one began. */
type TurningPoints = Record<'ended' | 'begun', LifecycleEntry | undefined>;

const isRemoval = ({ kind }: LifecycleEntry) => kind === 'binding_removed';

function turningPoints(timing: Timing, replayed: Replayed): TurningPoints {
  const { event, entries, versionBefore } = replayed;
  const touching = entries.filter(({ events }) => events.includes(event));
  const bound = touching.map((entry) => ({ entry, version: entry.versions?.[event] }));
  const isKnown = bound.every(({ entry, version }) => isRemoval(entry) || version !== undefined);
  if (!isKnown) return turningPointsWithoutVersions(timing, replayed, touching);
  let current = versionBefore;
  const turning = bound.flatMap(({ entry, version = null }) => {
    // Other entries have changed no more than the binding's chains.
    const isTurn = isRemoval(entry) || version !== current;
    current = version;
    return isTurn ? [entry] : [];
  });
  return { ended: turning[0], begun: turning.findLast((entry) => !isRemoval(entry)) };
}

/**
 * What a runtime of an older release tells. Where the definition before and the present one are the same, only a removal ends it:
 * other entries may have changed no more than the binding's chains.
 */
function turningPointsWithoutVersions(
  timing: Timing,
  { cron, isSameVersion }: Replayed,
  touching: readonly LifecycleEntry[],
): TurningPoints {
  const isSame = isSameVersion && isSameCron(timing.cron, cron);
  if (!isSame) return { ended: touching[0], begun: touching.at(-1) };
  const last = touching.findLastIndex(isRemoval);
  return { ended: touching.find(isRemoval), begun: last === -1 ? undefined : touching[last + 1] };
}

/** A pause that began in the same replay is not in the ledger yet: it ends there. */
function merge(before: Replay, { timing, ledger, pauseEnded }: ReturnType<typeof changeTiming>): Replay {
  const begun = before.ledger.findLast(({ kind, until }) => kind === 'pause' && until === null);
  const closed =
    pauseEnded === null || begun === undefined
      ? before.ledger
      : before.ledger.map((row) => (row === begun ? { ...row, until: pauseEnded } : row));
  return {
    timing,
    ledger: [...closed, ...ledger],
    pauseEnded: begun === undefined ? (pauseEnded ?? before.pauseEnded) : before.pauseEnded,
  };
}

/**
 * Entries with their times by the clock of who asked, `between` two moments of it. Only what the clock of who answered, which
 * said `now`, is certainly wrong by is corrected: the way there and back is no error of it.
 */
export function correctedTimes(
  entries: readonly LifecycleEntry[],
  now: number,
  between: readonly [from: number, until: number],
): readonly LifecycleEntry[] {
  const offset = Math.min(Math.max(now, between[0]), between[1]) - now;
  if (offset === 0) return entries;
  return entries.map((entry) => ({ ...entry, at: timestampOf(Date.parse(entry.at) + offset) }));
}

/** What pauses a deployment after these entries. What they do not tell is taken from how it is now. */
export function pauseCausesAfter(
  before: readonly string[],
  entries: readonly LifecycleEntry[],
  isPaused: boolean,
): string[] {
  if (!isPaused) return [];
  const causes = new Set(before);
  for (const entry of entries) applyPause(causes, entry);
  return causes.size > 0 ? [...causes] : ['unknown'];
}

function applyPause(causes: Set<string>, { kind, cause }: LifecycleEntry): void {
  if (kind === 'paused') causes.add(cause ?? 'owner');
  if (kind === 'resumed') causes.delete(cause ?? 'owner');
}
