import type { Kysely } from 'kysely';
import type { BusSchema, ConsumerTable, SentBack } from './tables.js';

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
