import { ServiceError } from '@orrery/contracts';
import { type Batcher, createBatcher } from '@orrery/service-kit';
import { CLAIM_MS, type ClaimedOccurrence, type FailedAttempt } from '../core/occurrences/occurrence.js';
import { type Outcome, outcomeOf } from '../core/occurrences/outcome.js';
import { nextAttemptAt, repetitionAt } from '../core/occurrences/retry-rules.js';
import { mayRetry, type SendResult } from '../core/occurrences/send-result.js';
import type { SchedulerContext } from '../following/context.js';
import type { Syncs } from '../following/start-syncs.js';
import { renewOccurrence } from '../store/occurrences/make-occurrence.js';
import {
  nextDueOf,
  openNextAttempt,
  recordOutcomes,
  releaseClaims,
  repeatAt,
} from '../store/occurrences/outcome-store.js';
import { pausedSince } from '../store/schedules/schedule-store.js';
import { askOfPaused, askOutcome, fireOccurrence } from './fire-occurrence.js';
import { recordTogether } from './record-together.js';
import {
  createSendQueues,
  type QueueName,
  type SendQueues,
  type SendSlot,
  type Taken,
} from './send-queues.js';
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

/** An internal error of the runtime says nothing of the outcome. After so many sendings the runtime is asked for it. */
const MOST_INTERNAL = 10;
/** How often an occurrence is made anew because its definition changes under it. */
const MOST_RENEWALS = 5;
/** Occurrences that are sent or recorded at once, for each that is sent for the first time. */
const MOST_WORKING = 4;
/** Schedules of which one statement reads whether they are paused. */
const READ_AT_ONCE = 500;
const UNKNOWN: SendResult = { kind: 'unknown', error: undefined };

/** Executes claimed occurrences, a bounded number at once, and records their outcomes. */
export class Dispatcher {
  readonly #working = new Map<number, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #queues: SendQueues;
  /** Queues that had no room when they were last asked. */
  readonly #full = new Set<QueueName>();
  readonly #record: Batcher<Outcome, null>;
  readonly #pausedSince: Batcher<number, number | null>;
  readonly #awaitSend: AwaitSend<SendResult>;
  /** How far the database's clock was ahead of this process's when something was last claimed; measured with. */
  #aheadMs = 0;

  constructor(private readonly dependencies: DispatcherDependencies) {
    const { db, clock, databaseNow, signals } = dependencies;
    const { signal } = this.#stopping;
    this.#record = recordTogether<Outcome>(async (outcomes) => {
      await recordOutcomes(db, outcomes, await databaseNow());
      signals.ended(outcomes);
    });
    this.#pausedSince = createBatcher({ maxBatch: READ_AT_ONCE, load: (ids) => pausedSince(db, ids) });
    this.#awaitSend = createSlowSends(clock, signal, UNKNOWN);
    const send = (taken: Taken, slot: SendSlot) => {
      this.#working.set(taken.occurrence.id, this.#attempt(taken, slot));
    };
    // The next ones are claimed while these are executed and recorded.
    this.#queues = createSendQueues({ ...dependencies, signal }, send, () => this.#tellOfRoom());
  }

  /** How many more occurrences to claim: many or none. */
  room(queue: QueueName): number {
    const room = this.#roomIn(queue);
    if (room === 0) this.#full.add(queue);
    return room;
  }

  /** `now` by the database's clock, in milliseconds. */
  take(queue: QueueName, occurrences: readonly ClaimedOccurrence[], now: number): void {
    const takenAt = this.dependencies.clock.monotonic();
    this.#aheadMs = now - takenAt;
    const others = occurrences.filter(({ id }) => !this.#working.has(id));
    this.#queues.add(
      queue,
      others.map((occurrence) => ({ occurrence, takenAt })),
    );
  }

  /** Resolves when nothing that was taken here is in work any more. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.race(this.#working.values());
  }

  /** Resolves when an occurrence that was taken here is no longer in work. */
  async settled(id: number): Promise<void> {
    while (this.#queues.isWaiting(id)) await Promise.race(this.#working.values());
    await this.#working.get(id);
  }

  /** Gives up what has not been sent, and waits for what has. */
  async stop(): Promise<void> {
    const { db, databaseNow } = this.dependencies;
    const unsent = this.#queues.clear().map(({ occurrence }) => occurrence.id);
    this.#stopping.abort(new Error('the dispatcher stops'));
    await releaseClaims(db, unsent, await databaseNow());
    await Promise.all(this.#working.values());
  }

  #roomIn(queue: QueueName): number {
    // What waits to be recorded is bounded too.
    const isFull = this.#working.size > MOST_WORKING * this.dependencies.concurrency;
    return this.#stopping.signal.aborted || isFull ? 0 : this.#queues.room(queue);
  }

  #tellOfRoom(): void {
    const open = [...this.#full].filter((queue) => this.#roomIn(queue) > 0);
    for (const queue of open) this.#full.delete(queue);
    if (open.length > 0) this.dependencies.onRoom();
  }

  async #attempt(taken: Taken, slot: SendSlot): Promise<void> {
    const { id } = taken.occurrence;
    try {
      await this.#execute(taken, slot);
    } catch (error) {
      // Its claim runs out, and it is taken up again.
      if (!this.#stopping.signal.aborted)
        this.dependencies.logger.warn(
          { err: error, occurrence: id },
          'the outcome of an occurrence was not recorded',
        );
    }
    this.#working.delete(id);
    this.#tellOfRoom();
  }

  /** Sends an occurrence, and stores what is known then. */
  async #execute(taken: Taken, slot: SendSlot): Promise<void> {
    const { clock, signals } = this.dependencies;
    const { occurrence } = taken;
    if (occurrence.attempt === 1 && occurrence.repeats === 0)
      signals.dispatched(clock.monotonic() + this.#aheadMs - occurrence.dueAt);
    const [sent, first] = await this.#fireUnlessChanged(taken, slot);
    if (first === undefined) return;
    const result = isHopeless(sent, first) ? await this.#askLast(sent, first) : first;
    if (result.kind === 'unknown' && !isHopeless(sent, result)) return this.#repeatLater(sent);
    if (result.kind === 'failed' && (await this.#retryLater(sent, result))) return;
    await this.#record(outcomeOf(sent, result));
  }

  /**
   * Sends the occurrence again after its schedule was synced, as long as something else is bound than it was made for. One
   * whose schedule is paused is only asked for. Nothing is sent when half of the claim's time has passed: another process may
   * have it soon. The slot is free afterwards, so that the next one is sent while the outcome is recorded.
   */
  async #fireUnlessChanged(
    { occurrence: first, takenAt }: Taken,
    slot: SendSlot,
  ): Promise<[ClaimedOccurrence, SendResult | undefined]> {
    const { db, clock, syncs, databaseNow } = this.dependencies;
    let occurrence = first;
    try {
      for (let renewals = 0; ; renewals += 1) {
        const paused = occurrence.kind === 'due' ? await this.#pausedSince(occurrence.scheduleId) : null;
        if (clock.monotonic() - takenAt > CLAIM_MS / 2) return [occurrence, undefined];
        const result = await this.#send(occurrence, slot, paused);
        if (result.kind !== 'changed') return [occurrence, result];
        if (renewals === MOST_RENEWALS || !slot.demote()) return [occurrence, UNKNOWN];
        await syncs.now(occurrence.deployment, this.#stopping.signal);
        const renewed = await renewOccurrence(db, occurrence, await databaseNow());
        if ('skipped' in renewed) return [occurrence, { kind: 'skipped', reason: renewed.skipped }];
        occurrence = renewed;
      }
    } finally {
      slot.release();
    }
  }

  /** Sends the occurrence. One that takes long gives its slot to others, and is asked for again later if need be. */
  #send(occurrence: ClaimedOccurrence, slot: SendSlot, pausedSince: number | null): Promise<SendResult> {
    const { signals } = this.dependencies;
    const { signal } = this.#stopping;
    const firing =
      pausedSince === null
        ? signals.sending(occurrence, () => fireOccurrence(this.dependencies, occurrence, signal))
        : this.#ask(occurrence, pausedSince);
    // Its caller waits.
    if (occurrence.kind === 'manual' && occurrence.repeats === 0) return firing;
    return this.#awaitSend(firing, slot);
  }

  async #ask(occurrence: ClaimedOccurrence, pausedSince: number): Promise<SendResult> {
    const pausedForMs = (await this.dependencies.databaseNow()) - pausedSince;
    return askOfPaused(this.dependencies, occurrence, pausedForMs, this.#stopping.signal);
  }

  /** The answers may have been lost alone: what the runtime knows of the attempt counts. */
  async #askLast(occurrence: ClaimedOccurrence, none: SendResult): Promise<SendResult> {
    const known = await askOutcome(this.dependencies, occurrence, none, this.#stopping.signal);
    return known.kind === 'changed' ? none : known;
  }

  async #repeatLater(occurrence: ClaimedOccurrence): Promise<void> {
    const { db, databaseNow, signals, onAgainIn } = this.dependencies;
    signals.repeated();
    const nextDue = await nextDueOf(db, occurrence.scheduleId);
    const now = await databaseNow();
    const at = repetitionAt(occurrence.repeats, now, nextDue);
    await repeatAt(db, occurrence, at);
    onAgainIn(at - now);
  }

  /** Opens the next attempt if there is to be one. What runs on request is not retried: its caller sees the failure. */
  async #retryLater(occurrence: ClaimedOccurrence, failed: FailedAttempt): Promise<boolean> {
    const { db, databaseNow, signals, onAgainIn } = this.dependencies;
    if (occurrence.kind !== 'due' || !mayRetry(failed.error)) return false;
    if ((await this.#pausedSince(occurrence.scheduleId)) !== null) return false;
    const nextDue = await nextDueOf(db, occurrence.scheduleId);
    const now = await databaseNow();
    const at = nextAttemptAt(occurrence.attempt, now, nextDue);
    if (at === undefined) return false;
    await openNextAttempt(db, occurrence, failed, at);
    signals.retried();
    onAgainIn(at - now);
    return true;
  }
}

const isHopeless = ({ repeats }: ClaimedOccurrence, result: SendResult): boolean =>
  repeats >= MOST_INTERNAL &&
  result.kind === 'unknown' &&
  result.error instanceof ServiceError &&
  result.error.code === 'internal';
