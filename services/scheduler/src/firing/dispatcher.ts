import type { Bus } from '@orrery/bus';
import type { ExecutionError } from '@orrery/contracts';
import { ServiceError } from '@orrery/contracts';
import { type Batcher, type Clock, createBatcher, type Logger } from '@orrery/service-kit';
import type { DatabaseClock } from '../database/database-clock.js';
import type { Db } from '../database/db.js';
import type { Syncs } from '../following/start-syncs.js';
import type { SchedulerSignals } from '../signals.js';
import { CLAIM_MS, type ClaimedOccurrence } from './claim-due.js';
import { fireOccurrence, mayRetry, type Shot } from './fire-occurrence.js';
import { type Outcome, openNextAttempt, recordOutcomes, releaseClaims, repeatAt } from './outcome-store.js';
import { renewOccurrence } from './renew-occurrence.js';
import { nextAttemptAt, repetitionAt } from './retry-rules.js';

export interface DispatcherDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  readonly databaseNow: DatabaseClock;
  readonly logger: Logger;
  readonly syncs: Pick<Syncs, 'now'>;
  readonly signals: SchedulerSignals;
  /** Occurrences that are executed at once by this process. */
  readonly concurrency: number;
  /** There is room for more, and something may be due at another time. */
  readonly onRoom: () => void;
}

/** Executes claimed occurrences, a bounded number at once, and records what became of them. */
export interface Dispatcher {
  /** How many more occurrences to claim. */
  readonly room: number;
  /** `now` by the database's clock, in milliseconds. */
  take(occurrences: readonly ClaimedOccurrence[], now: number): void;
  /** Resolves when nothing that was taken here is in work any more. */
  idle(): Promise<void>;
  /** Resolves when an occurrence that was taken here is no longer in work. */
  settled(id: number): Promise<void>;
  /** Gives up what has not been sent, and waits for what has. */
  stop(): Promise<void>;
}

/** `takenAt`: by the clock of this process, in milliseconds. */
interface Taken extends ClaimedOccurrence {
  readonly takenAt: number;
}

/** Outcomes that one transaction records. */
const RECORDED_AT_ONCE = 200;
/** An internal error of the runtime says nothing of the outcome. After so many of them there is none. */
const MOST_INTERNAL = 10;
/** How often an occurrence is made anew because its definition changes under it. */
const MOST_RENEWALS = 5;

export function createDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, clock, databaseNow, concurrency, logger, onRoom } = dependencies;
  const waiting: Taken[] = [];
  const working = new Map<number, Promise<void>>();
  const stopping = new AbortController();
  const record = createBatcher<Outcome, null>({
    maxBatch: RECORDED_AT_ONCE,
    load: async (outcomes) => {
      await recordOutcomes(db, outcomes, await databaseNow());
      return outcomes.map(() => null);
    },
  });
  const context: ExecuteContext = { ...dependencies, record, signal: stopping.signal, aheadMs: 0 };

  let sending = 0;
  const begin = () => {
    while (sending < concurrency) {
      const next = waiting.shift();
      if (next === undefined) break;
      sending += 1;
      const work = attempt(next).finally(() => {
        working.delete(next.id);
        if (waiting.length <= concurrency / 2) onRoom();
      });
      working.set(next.id, work);
    }
  };
  const attempt = (occurrence: Taken) =>
    execute(context, occurrence, () => {
      sending -= 1;
      begin();
    }).catch((error: unknown) => {
      // Its claim runs out, and it is taken up again.
      if (!stopping.signal.aborted)
        logger.warn(
          { err: error, occurrence: occurrence.id },
          'the outcome of an occurrence was not recorded',
        );
    });
  return {
    get room() {
      return stopping.signal.aborted ? 0 : 2 * concurrency - waiting.length - working.size;
    },
    take: (occurrences, now) => {
      context.aheadMs = now - clock.now();
      const takenAt = clock.now();
      const others = occurrences.filter(({ id }) => !working.has(id));
      waiting.push(...others.map((occurrence) => ({ ...occurrence, takenAt })));
      begin();
    },
    idle: async () => {
      while (working.size > 0) await Promise.race(working.values());
    },
    settled: async (id) => {
      while (waiting.some((one) => one.id === id)) await Promise.race(working.values());
      await working.get(id);
    },
    stop: async () => {
      const unsent = waiting.splice(0).map(({ id }) => id);
      stopping.abort();
      await releaseClaims(db, unsent, await databaseNow());
      await Promise.all(working.values());
    },
  };
}

interface ExecuteContext extends DispatcherDependencies {
  readonly record: Batcher<Outcome, null>;
  readonly signal: AbortSignal;
  /** How far the database's clock was ahead of this process's when something was last claimed; measured with. */
  aheadMs: number;
}

/** Sends an occurrence, and stores what is known then. */
async function execute(context: ExecuteContext, occurrence: Taken, onSent: () => void): Promise<void> {
  const { db, clock, databaseNow, record, signals, aheadMs } = context;
  if (occurrence.attempt === 1 && occurrence.repeats === 0)
    signals.dispatched(clock.now() + aheadMs - occurrence.dueAt);
  // The next one is sent while the outcome is recorded.
  const [sent, shot] = await fireUnlessChanged(context, occurrence).finally(onSent);
  if (shot === undefined) return;
  if (shot.kind === 'unknown' && !isHopeless(sent, shot.error)) {
    signals.repeated();
    return repeatAt(db, sent, repetitionAt(sent.repeats, await databaseNow()));
  }
  if (shot.kind === 'failed' && (await retryLater(context, sent, shot.error))) return;
  const outcome = outcomeOf(sent, shot);
  await record(outcome);
  signals.ended(outcome);
}

const isHopeless = ({ repeats }: ClaimedOccurrence, error: unknown): boolean =>
  repeats >= MOST_INTERNAL && error instanceof ServiceError && error.code === 'internal';

/**
 * Sends the occurrence again after its schedule was synced, as long as something else is bound than it was made for.
 * Nothing is sent when half of the claim's time has passed: another process may have it soon.
 */
async function fireUnlessChanged(
  context: ExecuteContext,
  { takenAt, ...first }: Taken,
): Promise<[ClaimedOccurrence, Shot | undefined]> {
  const { db, clock, syncs, databaseNow, signal } = context;
  let occurrence: ClaimedOccurrence = first;
  for (let renewals = 0; ; renewals += 1) {
    if (clock.now() - takenAt > CLAIM_MS / 2) return [occurrence, undefined];
    const shot = await fireOccurrence(context, occurrence, signal);
    if (shot.kind !== 'changed') return [occurrence, shot];
    if (renewals === MOST_RENEWALS) return [occurrence, { kind: 'unknown', error: undefined }];
    await syncs.now(occurrence.deployment, signal);
    const renewed = await renewOccurrence(db, occurrence, await databaseNow());
    if ('skipped' in renewed) return [occurrence, { kind: 'skipped', reason: renewed.skipped }];
    occurrence = renewed;
  }
}

/** Opens the next attempt if there is to be one. What runs on request is not retried: its caller sees the failure. */
async function retryLater(
  { db, databaseNow, signals }: ExecuteContext,
  occurrence: ClaimedOccurrence,
  error: ExecutionError,
): Promise<boolean> {
  if (occurrence.kind !== 'due' || !mayRetry(error)) return false;
  const schedule = await db
    .selectFrom('schedules')
    .select('next_at')
    .where('id', '=', occurrence.scheduleId)
    .executeTakeFirst();
  const nextDue = schedule?.next_at?.getTime() ?? null;
  const at = nextAttemptAt(occurrence.attempt, await databaseNow(), nextDue);
  if (at === undefined) return false;
  await openNextAttempt(db, occurrence, error, at);
  signals.retried();
  return true;
}

function outcomeOf({ id, scheduleId, attempt, dueAt }: ClaimedOccurrence, shot: Shot): Outcome {
  const none = { reason: null, outcome: null, historyId: null, seq: null, error: null, result: null };
  const names = { id, scheduleId, attempt, scheduledAt: new Date(dueAt).toISOString() };
  if (shot.kind === 'succeeded') {
    const { historyId, seq, result } = shot;
    return { ...none, ...names, status: 'fired', outcome: 'succeeded', historyId, seq, result };
  }
  if (shot.kind === 'skipped') return { ...none, ...names, status: 'skipped', reason: shot.reason };
  const failed = { ...none, ...names, status: 'fired' as const, outcome: 'failed' as const };
  if (shot.kind === 'failed') return { ...failed, ...shot.entry, error: shot.error };
  return { ...failed, error: { code: 'internal', detail: 'The runtime could not execute it.' } };
}
