import type { Migrations } from '@orrery/database';
import { type ColumnType, type Generated, sql } from 'kysely';

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

/** A delivery that waits for its next try; `dueAt` in ms since epoch. */
export interface SentBack {
  seq: number;
  /** Which one; the name is stored. */
  attempt: number;
  dueAt: number;
}

/** A consumer's progress: everything up to `position` is done or in `sent_back`. */
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

export const migrations: Migrations = {
  '0001_messages': {
    up: async (db) => {
      await db.schema
        .createTable('message')
        .addColumn('seq', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('ordering_key', 'text')
        .addColumn('headers', 'jsonb', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('stored_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
        .addUniqueConstraint('message_once', ['subject', 'id'])
        .execute();
      await db.schema.createIndex('message_by_subject').on('message').columns(['subject', 'seq']).execute();
      await db.schema.createIndex('message_by_age').on('message').column('stored_at').execute();
    },
  },
  '0002_consumers': {
    up: async (db) => {
      await db.schema
        .createTable('consumer')
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('position', 'bigint', (column) => column.notNull())
        .addColumn('floor', 'bigint', (column) => column.notNull())
        .addColumn('sent_back', 'jsonb', (column) => column.notNull())
        .addPrimaryKeyConstraint('consumer_pkey', ['name', 'subject'])
        .execute();
    },
  },
  /** Messages are read and pruned by their subject, oldest first; their age grows with their numbers. */
  '0003_fewer_indexes': {
    up: async (db) => {
      await sql`alter table message drop constraint message_pkey, add primary key (subject, seq)`.execute(db);
      await sql`drop index message_by_subject, message_by_age`.execute(db);
    },
  },
};
