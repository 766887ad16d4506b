import type { OutboxSchema } from '@orrery/database';
import type { Kysely, Transaction } from 'kysely';
import type { RuntimeTables } from './schema.js';

/** The tables of the runtime and the outbox that they share a database with. */
export type RuntimeSchema = RuntimeTables & OutboxSchema;
export type Db = Kysely<RuntimeSchema>;
export type Trx = Transaction<RuntimeSchema>;
