import type { Migrations } from '@orrery/database';
import { sql } from 'kysely';

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
