import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Kysely, Selectable } from 'kysely';
import { createWorkSlots } from '../../in-flight/work-slots.js';
import type { FactDelivery, ReadOptions } from '../../ports/transport.js';
import { loadProgress, type Progress } from './progress.js';
import type { BusSchema, MessageTable } from './tables.js';

export interface ReadDependencies {
  readonly db: Kysely<BusSchema>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls back after something was stored under the subject. @returns how to unsubscribe. */
  readonly onStored: (subject: string, wake: () => void) => () => void;
}

/** Reads and saves progress at this interval, also without being woken. */
const POLL_INTERVAL_MS = 1000;
const MAX_BACKOFF_MS = 5000;
/** With more messages sent back than this, no new ones are begun. */
const MAX_SENT_BACK = 1000;

/**
 * Delivers one consumer's messages: those that are due again, then new ones.
 *
 * @returns how to stop (an abort alone only ends the loop): waits for messages in work and saves the progress.
 */
export async function startReading(
  subject: string,
  { consumer, maxInFlight, receive, signal }: ReadOptions,
  { db, clock, logger, onStored }: ReadDependencies,
): Promise<() => Promise<void>> {
  const progress = await loadProgress(db, consumer, subject);
  const slots = createWorkSlots(maxInFlight);
  const stopping = new AbortController();

  const wakeIn = (ms: number) => {
    clock.sleep(ms, stopping.signal).then(loop.wake, () => undefined);
  };
  const runOnce = async () => {
    await slots.untilHalfFree();
    await progress.save();
    const rows = await nextMessages(db, subject, progress, slots.free, clock.monotonic());
    for (const row of rows) slots.take(receive(deliveryOf(row, progress, clock, wakeIn)));
    if (rows.length > 0) void slots.untilEmpty().then(loop.wake);
    return rows.length > 0 ? ('more' as const) : ('idle' as const);
  };
  const loop = startPollLoop({
    name: `${consumer} of ${subject}`,
    intervalMs: POLL_INTERVAL_MS,
    maxBackoffMs: MAX_BACKOFF_MS,
    runOnce,
    clock,
    logger,
    signal,
  });
  const unsubscribe = onStored(subject, loop.wake);
  const stop = async () => {
    unsubscribe();
    stopping.abort();
    await loop.stop();
    await slots.untilEmpty();
    await progress
      .save()
      .catch((error: unknown) =>
        logger.warn({ err: error, consumer }, 'progress of a consumer was not saved'),
      );
  };
  return stop;
}

type MessageRow = Selectable<MessageTable>;

async function nextMessages(
  db: Kysely<BusSchema>,
  subject: string,
  progress: Progress,
  free: number,
  now: number,
): Promise<MessageRow[]> {
  const due = progress.due(now).slice(0, free);
  const of = db.selectFrom('message').selectAll().where('subject', '=', subject).orderBy('seq');
  const again = due.length === 0 ? [] : await of.where('seq', 'in', due).execute();
  const room = progress.sentBack.size > MAX_SENT_BACK ? 0 : free - again.length;
  const fresh = room === 0 ? [] : await of.where('seq', '>', progress.cursor).limit(room).execute();
  return [...again, ...fresh];
}

function deliveryOf(
  row: MessageRow,
  progress: Progress,
  clock: Clock,
  wakeIn: (ms: number) => void,
): FactDelivery {
  const { seq } = row;
  const { tries } = progress.begin(seq);
  return {
    seq,
    tries,
    id: row.id,
    key: row.ordering_key ?? undefined,
    headers: row.headers,
    body: row.body,
    done: () => progress.done(seq),
    sendBack: (delayMs, counts) => {
      progress.sendBack(seq, { attempt: counts ? tries + 1 : tries, dueAt: clock.monotonic() + delayMs });
      // A timer drops fractions: a millisecond too early it would find nothing due, and wait for the next poll.
      wakeIn(Math.ceil(delayMs) + 1);
    },
  };
}
