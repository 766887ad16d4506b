import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Kysely, Selectable } from 'kysely';
import { createWorkSlots } from '../../in-flight/in-flight.js';
import type { FactDelivery, ReadOptions } from '../../ports/transport.js';
import type { BusSchema, ConsumerTable, MessageTable, SentBack } from './tables.js';

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

/** A consumer's progress in memory. `save` writes it as one row, so it is consistent after a crash. */
export interface Progress {
  /** The last message that was read. */
  readonly cursor: number;
  readonly sentBack: ReadonlyMap<number, SentBack>;
  /** `seq` of the messages that were sent back, are due and not in work, oldest first. */
  due(now: number): number[];
  begin(seq: number): { tries: number };
  done(seq: number): void;
  sendBack(seq: number, again: Omit<SentBack, 'seq'>): void;
  /** Writes the changes since the last time. */
  save(): Promise<void>;
}

/** Resumes a consumer where it stopped. A new one begins with the oldest message that is still stored. */
export async function loadProgress(db: Kysely<BusSchema>, name: string, subject: string): Promise<Progress> {
  const blank = { name, subject, position: 0, floor: 1, sent_back: '[]' };
  await db
    .insertInto('consumer')
    .values(blank)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db
    .selectFrom('consumer')
    .select(['position', 'sent_back'])
    .where('name', '=', name)
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow();
  const write = async (changes: Pick<ConsumerTable, 'position' | 'floor'> & { sent_back: string }) => {
    await db
      .updateTable('consumer')
      .set(changes)
      .where('name', '=', name)
      .where('subject', '=', subject)
      .execute();
  };
  return trackProgress(row, write);
}

type Write = (changes: { position: number; floor: number; sent_back: string }) => Promise<void>;

export function trackProgress(
  from: { position: number; sent_back: readonly SentBack[] },
  write: Write,
): Progress {
  let cursor = from.position;
  const sentBack = new Map(from.sent_back.map((one) => [one.seq, one]));
  /** In work for the first time. A message that is in work again stays in `sentBack` until it is done. */
  const first = new Set<number>();
  const again = new Set<number>();
  let changed = false;

  const position = () => (first.size === 0 ? cursor : Math.min(...first) - 1);
  const leave = (seq: number) => {
    changed = true;
    first.delete(seq);
    again.delete(seq);
  };
  return {
    get cursor() {
      return cursor;
    },
    sentBack,
    due: (now) =>
      [...sentBack.values()]
        .filter(({ seq, dueAt }) => dueAt <= now && !again.has(seq))
        .map(({ seq }) => seq)
        .sort((a, b) => a - b),
    begin: (seq) => {
      const earlier = sentBack.get(seq);
      if (earlier === undefined) first.add(seq);
      else again.add(seq);
      cursor = Math.max(cursor, seq);
      return { tries: earlier?.attempt ?? 1 };
    },
    done: (seq) => {
      leave(seq);
      sentBack.delete(seq);
    },
    sendBack: (seq, next) => {
      leave(seq);
      sentBack.set(seq, { seq, ...next });
    },
    save: async () => {
      if (!changed) return;
      changed = false;
      const floor = Math.min(position() + 1, ...sentBack.keys());
      const entries = JSON.stringify([...sentBack.values()]);
      await write({ position: position(), floor, sent_back: entries }).catch((error: unknown) => {
        changed = true;
        throw error;
      });
    },
  };
}
