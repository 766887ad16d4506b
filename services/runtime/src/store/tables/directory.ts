import { type Migrations, statements } from '@orrery/database';
import type { Kysely } from 'kysely';

/** Tables of the schema `directory`, which may be in a database of its own. */
export interface DirectorySchema {
  databases: { id: string; name: string };
  homes: { partition: number; database: string; generation: number };
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
};
