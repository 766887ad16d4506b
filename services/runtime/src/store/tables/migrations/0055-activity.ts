import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `activity`: the executions of a deployment, counted by step (60 s, 1,800 s, a day), event, outcome (empty: succeeded; else
 * the code of the failure) and latency (docs/adr/0055-counts-of-executions.md). It is computed from the journal up to
 * `activity_heads.seq` when an overview is read, so commits do not write it. Rows that no overview shows any more are
 * deleted as later ones are written.
 */
export const activity: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.activity_heads (
        deployment_id bigint primary key,
        seq bigint not null
      )`.execute(db);
    await sql`
      create table runtime.activity (
        deployment_id bigint not null,
        step integer not null,
        at bigint not null,
        event text collate "C" not null,
        outcome text collate "C" not null,
        latency smallint not null,
        executions bigint not null,
        usd double precision,
        primary key (deployment_id, step, at, event, outcome, latency)
      )`.execute(db);
  },
};
