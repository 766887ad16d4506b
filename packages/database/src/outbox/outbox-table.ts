import type { JsonValue } from '@orrery/contracts';
import type { Generated } from 'kysely';
import { statements } from '../migration/migrate.js';

/** To be mixed into a service's own table types: `interface Schema extends OutboxSchema`. */
export interface OutboxSchema {
  outbox: OutboxTable;
}

interface OutboxTable {
  id: Generated<number>;
  /** The message's name in the contract. */
  name: string;
  /** Messages with one key are published in the order of their ids. */
  ordering_key: string;
  /** The same for every repetition, so that the bus and the consumers recognise it. */
  message_id: string;
  payload: JsonValue;
  created_at: Generated<Date>;
}

/**
 * Creates the table `outbox` in the schema of the service. Rows live for milliseconds and are read from the oldest, so
 * dead rows must be removed soon: vacuum starts at a thousand of them, whatever the size of the table.
 */
export const outboxMigration = statements(`
  create table outbox (
    id bigint generated always as identity primary key,
    name text not null,
    ordering_key text not null,
    ordering_seq bigint,
    message_id text not null,
    payload jsonb,
    headers jsonb not null default '{}',
    created_at timestamptz not null default now()
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
`);

/** Of an earlier release, in which relays of the runtime divided the rows of an outbox by their shards. */
export const outboxShards = statements(`
  alter table outbox add column shard smallint;
  create index outbox_without_shard on outbox (id) where shard is null;
`);

/** Of an earlier release, too. */
export const outboxShardIndex = statements(`
  create index outbox_of_shard on outbox (shard, id) where shard is not null;
`);
