import { statements } from '../migration/migrate.js';

/**
 * Creates the tables of a consumer in the schema of its service: `inbox_positions`, the last number that each consumer
 * has processed of each ordering key, and `inbox_parked`, the dead letters.
 */
export const inboxMigration = statements(`
  create table inbox_positions (
    consumer text not null,
    ordering_key text not null,
    last_seq bigint not null,
    primary key (consumer, ordering_key)
  ) with (fillfactor = 70);
  create table inbox_parked (
    consumer text not null,
    ordering_key text not null,
    seq bigint not null,
    reason text not null,
    payload jsonb not null,
    parked_at timestamptz not null default now(),
    primary key (consumer, ordering_key, seq)
  );
`);

/** Adds the hash of the last entry that a consumer has processed, so that it notices a journal that lost its tail. */
export const inboxHashes = statements(`
  alter table inbox_positions add column last_hash text;
`);

/**
 * Adds how often the next number of a stream has been begun, so that a message that ends its consumer's process is noticed.
 * A row counts for its own number only; the count of a later one begins anew.
 */
export const inboxAttempts = statements(`
  create table inbox_attempts (
    consumer text not null,
    ordering_key text not null,
    seq bigint not null,
    attempts integer not null,
    primary key (consumer, ordering_key)
  ) with (fillfactor = 70);
`);

/** Adds what an operator has asked to be done with a dead letter, until the consumer has done it. */
export const inboxResolutions = statements(`
  alter table inbox_parked add column resolution text check (resolution in ('retry', 'skip'));
`);
