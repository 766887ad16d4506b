import { ServiceError } from '@orrery/contracts';
import type { Batcher } from '@orrery/service-kit';
import { CLAIM_MS, type ClaimedOccurrence, type FailedAttempt } from '../core/occurrences/occurrence.js';
import { type Outcome, outcomeOf } from '../core/occurrences/outcome.js';
import { nextAttemptAt, repetitionAt } from '../core/occurrences/retry-rules.js';
import { mayRetry, type SendResult } from '../core/occurrences/send-result.js';
import type { SchedulerContext } from '../following/context.js';
import type { Syncs } from '../following/start-syncs.js';
import {
  nextDueOf,
  openNextAttempt,
  recordOutcomes,
  releaseClaims,
  repeatAt,
} from '../store/occurrences/outcome-store.js';
import { renewOccurrence } from '../store/occurrences/renew-occurrence.js';
import { fireOccurrence } from './fire-occurrence.js';
import { recordTogether } from './record-together.js';
import { createSendQueues, type QueueName, type SendSlot, type Taken } from './send-queues.js';
import type { SchedulerSignals } from './signals.js';
import { type AwaitSend, createSlowSends } from './slow-sends.js';

export interface DispatcherDependencies extends SchedulerContext {
  readonly syncs: Pick<Syncs, 'now'>;
  readonly signals: SchedulerSignals;
  /** Occurrences that this process sends for the first time at once. */
  readonly concurrency: number;
  /** And in a second. */
  readonly perSecond: number;
  /** A queue that had no room has some again. */
  readonly onRoom: () => void;
  /** An occurrence is to be sent again in so many milliseconds. */
  readonly onAgainIn: (ms: number) => void;
}

/** Executes claimed occurrences, a bounded number at once, and records their outcomes. */
export interface Dispatcher {
  /** How many more occurrences to claim: many or none. */
  room(queue: QueueName): number;
  /** `now` by the database's clock, in milliseconds. */
  take(queue: QueueName, occurrences: readonly ClaimedOccurrence[], now: number): void;
  /** Resolves when nothing that was taken here is in work any more. */
  idle(): Promise<void>;
  /** Resolves when an occurrence that was taken here is no longer in work. */
  settled(id: number): Promise<void>;
  /** Gives up what has not been sent, and waits for what has. */
  stop(): Promise<void>;
}

/** An internal error of the runtime says nothing of the outcome. After so many of them there is none. */
const MOST_INTERNAL = 10;
/** How often an occurrence is made anew because its definition changes under it. */
const MOST_RENEWALS = 5;
/** Occurrences that are sent or recorded at once, for each that is sent for the first time. */
const MOST_WORKING = 4;
const UNKNOWN: SendResult = { kind: 'unknown', error: undefined };

export function createDispatcher(dependencies: DispatcherDependencies): Dispatcher {
  const { db, clock, databaseNow, concurrency, logger, signals, onRoom } = dependencies;
  const working = new Map<number, Promise<void>>();
  const stopping = new AbortController();
  const record = recordTogether<Outcome>(async (outcomes) => {
    await recordOutcomes(db, outcomes, await databaseNow());
    signals.ended(outcomes);
  });
  const awaitSend = createSlowSends(clock, stopping.signal, UNKNOWN);
  const context: ExecuteContext = {
    ...dependencies,
    record,
    awaitSend,
    stopping: stopping.signal,
    aheadMs: 0,
  };

  const send = (taken: Taken, slot: SendSlot) => {
    working.set(taken.occurrence.id, attempt(taken, slot));
  };
  // The next ones are claimed while these are executed and recorded.
  const queues = createSendQueues({ ...dependencies, signal: stopping.signal }, send, () => tellOfRoom());
  /** Queues that had no room when they were last asked. */
  const full = new Set<QueueName>();
  const tellOfRoom = () => {
    if (full.size === 0) return;
    const open = [...full].filter((queue) => roomIn(queue) > 0);
    for (const queue of open) full.delete(queue);
    if (open.length > 0) onRoom();
  };
  const attempt = async (taken: Taken, slot: SendSlot) => {
    const { id } = taken.occurrence;
    try {
      await execute(context, taken, slot);
    } catch (error) {
      // Its claim runs out, and it is taken up again.
      if (!stopping.signal.aborted)
        logger.warn({ err: error, occurrence: id }, 'the outcome of an occurrence was not recorded');
    }
    working.delete(id);
    tellOfRoom();
  };
  // What waits to be recorded is bounded too.
  const roomIn = (queue: QueueName) =>
    stopping.signal.aborted || working.size > MOST_WORKING * concurrency ? 0 : queues.room(queue);
  return {
    room: (queue) => {
      const room = roomIn(queue);
      if (room === 0) full.add(queue);
      return room;
    },
    take: (queue, occurrences, now) => {
      context.aheadMs = now - clock.monotonic();
      const takenAt = clock.monotonic();
      const others = occurrences.filter(({ id }) => !working.has(id));
      queues.add(
        queue,
        others.map((occurrence) => ({ occurrence, takenAt })),
      );
    },
    idle: async () => {
      while (working.size > 0) await Promise.race(working.values());
    },
    settled: async (id) => {
      while (queues.isWaiting(id)) await Promise.race(working.values());
      await working.get(id);
    },
    stop: async () => {
      const unsent = queues.clear().map(({ occurrence }) => occurrence.id);
      stopping.abort(new Error('the dispatcher stops'));
      await releaseClaims(db, unsent, await databaseNow());
      await Promise.all(working.values());
    },
  };
}

interface ExecuteContext extends DispatcherDependencies {
  readonly record: Batcher<Outcome, null>;
  readonly awaitSend: AwaitSend<SendResult>;
  readonly stopping: AbortSignal;
  /** How far the database's clock was ahead of this process's when something was last claimed; measured with. */
  aheadMs: number;
}

/** Sends an occurrence, and stores what is known then. */
async function execute(context: ExecuteContext, taken: Taken, slot: SendSlot): Promise<void> {
  const { clock, record, signals, aheadMs } = context;
  const { occurrence } = taken;
  if (occurrence.attempt === 1 && occurrence.repeats === 0)
    signals.dispatched(clock.monotonic() + aheadMs - occurrence.dueAt);
  const [sent, result] = await fireUnlessChanged(context, taken, slot);
  if (result === undefined) return;
  if (result.kind === 'unknown' && !isHopeless(sent, result.error)) return repeatLater(context, sent);
  if (result.kind === 'failed' && (await retryLater(context, sent, result))) return;
  await record(outcomeOf(sent, result));
}

const isHopeless = ({ repeats }: ClaimedOccurrence, error: unknown): boolean =>
  repeats >= MOST_INTERNAL && error instanceof ServiceError && error.code === 'internal';

/**
 * Sends the occurrence again after its schedule was synced, as long as something else is bound than it was made for.
 * Nothing is sent when half of the claim's time has passed: another process may have it soon. The slot is free afterwards,
 * so that the next one is sent while the outcome is recorded.
 */
async function fireUnlessChanged(
  context: ExecuteContext,
  { occurrence: first, takenAt }: Taken,
  slot: SendSlot,
): Promise<[ClaimedOccurrence, SendResult | undefined]> {
  const { db, clock, syncs, databaseNow, stopping } = context;
  let occurrence = first;
  try {
    for (let renewals = 0; ; renewals += 1) {
      if (clock.monotonic() - takenAt > CLAIM_MS / 2) return [occurrence, undefined];
      const result = await sendOccurrence(context, occurrence, slot);
      if (result.kind !== 'changed') return [occurrence, result];
      if (renewals === MOST_RENEWALS || !slot.demote()) return [occurrence, UNKNOWN];
      await syncs.now(occurrence.deployment, stopping);
      const renewed = await renewOccurrence(db, occurrence, await databaseNow());
      if ('skipped' in renewed) return [occurrence, { kind: 'skipped', reason: renewed.skipped }];
      occurrence = renewed;
    }
  } finally {
    slot.release();
  }
}

/** Sends the occurrence. One that takes long gives its slot to others, and is asked for again later if need be. */
function sendOccurrence(
  context: ExecuteContext,
  occurrence: ClaimedOccurrence,
  slot: SendSlot,
): Promise<SendResult> {
  const firing = context.signals.sending(occurrence, () =>
    fireOccurrence(context, occurrence, context.stopping),
  );
  // Its caller waits.
  if (occurrence.kind === 'manual' && occurrence.repeats === 0) return firing;
  return context.awaitSend(firing, slot);
}

async function repeatLater(
  { db, databaseNow, signals, onAgainIn }: ExecuteContext,
  occurrence: ClaimedOccurrence,
): Promise<void> {
  signals.repeated();
  const nextDue = await nextDueOf(db, occurrence.scheduleId);
  const now = await databaseNow();
  const at = repetitionAt(occurrence.repeats, now, nextDue);
  await repeatAt(db, occurrence, at);
  onAgainIn(at - now);
}

/** Opens the next attempt if there is to be one. What runs on request is not retried: its caller sees the failure. */
async function retryLater(
  { db, databaseNow, signals, onAgainIn }: ExecuteContext,
  occurrence: ClaimedOccurrence,
  failed: FailedAttempt,
): Promise<boolean> {
  if (occurrence.kind !== 'due' || !mayRetry(failed.error)) return false;
  const nextDue = await nextDueOf(db, occurrence.scheduleId);
  const now = await databaseNow();
  const at = nextAttemptAt(occurrence.attempt, now, nextDue);
  if (at === undefined) return false;
  await openNextAttempt(db, occurrence, failed, at);
  signals.retried();
  onAgainIn(at - now);
  return true;
}
