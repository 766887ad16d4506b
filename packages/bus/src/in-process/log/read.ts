import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Kysely, Selectable } from 'kysely';
import { MAX_IN_FLIGHT, WorkSlots } from '../../in-flight/in-flight.js';
import type { FactDelivery, ReadOptions } from '../../ports/transport.js';
import type { BusSchema, MessageTable, SentBack } from './tables.js';

export interface ReadDependencies {
  readonly db: Kysely<BusSchema>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls back after something was stored under the reader's subject. @returns how to unsubscribe. */
  readonly onStored: (wake: () => void) => () => void;
}

/** Reads and saves progress at this interval, also without being woken. */
const POLL_INTERVAL_MS = 1000;
const MAX_BACKOFF_MS = 5000;
/** With more messages sent back than this, no new ones are begun. */
const MAX_SENT_BACK = 1000;

/**
 * Delivers one consumer's messages: those that are due again, then new ones.
 *
 * @returns how to stop, as an abort does: waits for messages in work and saves the progress.
 */
export async function startReading(
  subject: string,
  { consumer, receive, signal }: ReadOptions,
  { db, clock, logger, onStored }: ReadDependencies,
): Promise<() => Promise<void>> {
  const progress = await loadProgress(db, consumer, subject);
  const slots = new WorkSlots(MAX_IN_FLIGHT);
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
  });
  const unsubscribe = onStored(loop.wake);
  const end = async () => {
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
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= end();
    return ended;
  };
  if (signal.aborted) await stop();
  else signal.addEventListener('abort', () => void stop(), { once: true });
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
  const room = progress.away > MAX_SENT_BACK ? 0 : free - again.length;
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
    tries,
    id: row.id,
    key: row.ordering_key ?? undefined,
    headers: row.headers,
    body: row.body,
    done: () => progress.done(seq),
    sendBack: (delayMs) => {
      progress.sendBack(seq, { attempt: tries + 1, dueAt: clock.monotonic() + delayMs });
      // A timer drops fractions: a millisecond too early it would find nothing due, and wait for the next poll.
      wakeIn(Math.ceil(delayMs) + 1);
    },
  };
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
  const write: Write = async (changes) => {
    await db
      .updateTable('consumer')
      .set(changes)
      .where('name', '=', name)
      .where('subject', '=', subject)
      .execute();
  };
  return new Progress(row, write);
}

type Write = (changes: { position: number; floor: number; sent_back: string }) => Promise<void>;

/** A consumer's progress in memory. `save` writes it as one row, so it is consistent after a crash. */
export class Progress {
  readonly #sentBack: Map<number, SentBack>;
  /** In work for the first time. A message that is in work again stays in `#sentBack` until it is done. */
  readonly #first = new Set<number>();
  readonly #again = new Set<number>();
  #cursor: number;
  #hasChanged = false;

  constructor(
    from: { position: number; sent_back: readonly SentBack[] },
    private readonly write: Write,
  ) {
    this.#cursor = from.position;
    this.#sentBack = new Map(from.sent_back.map((one) => [one.seq, one]));
  }

  /** The last message that was read. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Messages that were sent back and are not done. */
  get away(): number {
    return this.#sentBack.size;
  }

  /** `seq` of the messages that were sent back, are due and not in work, oldest first. */
  due(now: number): number[] {
    return [...this.#sentBack.values()]
      .filter(({ seq, dueAt }) => dueAt <= now && !this.#again.has(seq))
      .map(({ seq }) => seq)
      .sort((a, b) => a - b);
  }

  begin(seq: number): { tries: number } {
    const earlier = this.#sentBack.get(seq);
    (earlier === undefined ? this.#first : this.#again).add(seq);
    this.#cursor = Math.max(this.#cursor, seq);
    return { tries: earlier?.attempt ?? 1 };
  }

  done(seq: number): void {
    this.#leave(seq);
    this.#sentBack.delete(seq);
  }

  sendBack(seq: number, again: Omit<SentBack, 'seq'>): void {
    this.#leave(seq);
    this.#sentBack.set(seq, { seq, ...again });
  }

  /** Writes the changes since the last time. */
  async save(): Promise<void> {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const position = this.#first.size === 0 ? this.#cursor : Math.min(...this.#first) - 1;
    const floor = Math.min(position + 1, ...this.#sentBack.keys());
    const sent_back = JSON.stringify([...this.#sentBack.values()]);
    await this.write({ position, floor, sent_back }).catch((error: unknown) => {
      this.#hasChanged = true;
      throw error;
    });
  }

  #leave(seq: number): void {
    this.#hasChanged = true;
    this.#first.delete(seq);
    this.#again.delete(seq);
  }
}
