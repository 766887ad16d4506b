import type { ColumnType, Generated } from 'kysely';

/** A published message, kept until its consumers have handled it. */
export interface MessageTable {
  seq: Generated<number>;
  subject: string;
  id: string;
  ordering_key: string | null;
  headers: ColumnType<Record<string, string>, string, never>;
  body: string;
  stored_at: Generated<Date>;
}

/** A delivery that waits for its next attempt; `dueAt` in ms since epoch. */
export interface SentBack {
  seq: number;
  attempt: number;
  dueAt: number;
}

/** How far a consumer has come: everything up to `position` is done or in `sent_back`. */
export interface ConsumerTable {
  name: string;
  subject: string;
  position: number;
  /** All below it is done. */
  floor: number;
  sent_back: ColumnType<SentBack[], string, string>;
}

export interface BusSchema {
  message: MessageTable;
  consumer: ConsumerTable;
}
