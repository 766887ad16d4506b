import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `partitions`: who owns which part of the deployments, until when. `epoch` grows with every change of hands and when
 * an owner shuts out a commit of its own whose outcome it does not know. `members`: the processes that are alive.
 */
export const ownership: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.members (
        instance text primary key,
        expires_at timestamptz not null
      )`.execute(db);
    await sql`
      create table runtime.partitions (
        id smallint primary key,
        owner text,
        epoch bigint not null default 0,
        expires_at timestamptz
      ) with (fillfactor = 20)`.execute(db);
    // 64 as a literal: a migration that has run never changes with the code.
    await sql`insert into runtime.partitions (id) select generate_series(0, 63)`.execute(db);
  },
};
