import { type Migrations, statements } from '@orrery/database';
import type { Generated, Kysely } from 'kysely';

/** Tables of the schema `directory`, which may be in a database of its own. */
export interface DirectorySchema {
  databases: { id: string; name: string; place: number; compared_at: Generated<Date | null> };
  homes: { partition: number; database: string; generation: number };
  moves: { partition: number; source: string; target: string; undone: Generated<boolean> };
  places: {
    deployment_id: number;
    address: string;
    account_id: number;
    made_at: Generated<Date>;
    deleted_at: Generated<Date | null>;
  };
}

export type DirectoryDb = Kysely<DirectorySchema>;

/** In the order of their names; one that has been released is never changed. */
export const directoryMigrations: Migrations = {
  /**
   * `databases`: the databases in which deployments live, by the ids that they have themselves. `homes`: the one database
   * in which each partition lives. `generation` grows while it lives there and with each move (docs/adr/0052).
   */
  '0001_homes': statements(`
    create table directory.databases (
      id uuid primary key,
      name text collate "C" not null unique,
      added_at timestamptz not null default now()
    );
    create table directory.homes (
      partition smallint primary key check (partition between 0 and 63),
      database uuid not null references directory.databases (id),
      generation bigint not null check (generation > 0)
    );
    create index homes_of_database on directory.homes (database);
  `),
  /**
   * `places`: which deployments there are, where there are several databases: written before the deployment, so one whose
   * creation failed has a place until it is swept. `databases.place` numbers the databases. A deployment's id says its partition. `deployment_ids` gives ids that grow
   * across databases. `creations`: in which database a request to create is repeated that has an Idempotency-Key.
   */
  '0002_places': statements(`
    alter table directory.databases add column place smallint unique check (place between 0 and 63);
    update directory.databases set place = 0;
    alter table directory.databases alter column place set not null;
    create table directory.places (
      deployment_id bigint primary key,
      address text collate "C" not null unique,
      account_id bigint not null,
      made_at timestamptz not null default now(),
      deleted_at timestamptz
    );
    create index places_of_account on directory.places (account_id) where deleted_at is null;
    create sequence directory.deployment_ids;
    create table directory.creations (
      account_id bigint not null,
      operation text not null,
      key text not null,
      database uuid not null references directory.databases (id),
      made_at timestamptz not null default now(),
      primary key (account_id, operation, key)
    );
    create index creations_made on directory.creations (made_at);
  `),
  /**
   * What holds for accounts and payments wherever deployments live. `payments`: the one deployment that a payment is for, as
   * long as it can be charged. `ai_reservations` is as that of a database (its migration 0019), by which budgets are decided;
   * `ai_usage` has the highest counts that the databases have told of theirs.
   */
  '0003_payments_and_budgets': statements(`
    create table directory.payments (
      key text collate "C" primary key,
      deployment_id bigint not null,
      valid_until timestamptz not null
    );
    create index payments_valid on directory.payments (valid_until);
    create table directory.ai_usage (
      deployment_id bigint not null,
      day date not null,
      event text not null,
      account_id bigint not null,
      calls bigint not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      usd numeric not null,
      primary key (deployment_id, day, event)
    );
    create index ai_usage_account on directory.ai_usage (account_id, day);
    create table directory.ai_reservations (
      execution_id uuid primary key,
      id uuid not null unique,
      deployment_id bigint not null,
      account_id bigint not null,
      day date not null,
      usd numeric not null,
      expires_at timestamptz not null
    );
    create index ai_reservations_account on directory.ai_reservations (account_id);
  `),
  /** Pauses that the operator asked for at one database, of deployments of another: its runtimes take them over. */
  '0004_operator_pauses': statements(`
    create table directory.operator_pauses (
      deployment_id bigint primary key,
      paused boolean not null,
      done boolean not null default false
    );
    create index operator_pauses_waiting on directory.operator_pauses (deployment_id) where not done;
  `),
  /**
   * Partitions that move, from the first step until nothing of them is left at the source. While `homes` names the source, the
   * move is under way and can be undone; `undone` is set first then, so that no other mover ends it meanwhile.
   */
  '0005_moves': statements(`
    create table directory.moves (
      partition smallint primary key check (partition between 0 and 63),
      source uuid not null references directory.databases (id),
      target uuid not null references directory.databases (id),
      undone boolean not null default false,
      begun_at timestamptz not null default now()
    );
  `),
  /** `compared_at`: since then the places of all deployments of a database are in the directory; null: not surely. */
  '0006_compared': statements(`
    alter table directory.databases add column compared_at timestamptz;
    update directory.databases set compared_at = now() where (select count(*) from directory.databases) > 1;
  `),
};
