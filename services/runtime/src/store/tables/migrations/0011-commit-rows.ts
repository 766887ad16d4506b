import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What a commit compares before it writes: the previous entry of each head, and the step of each run. `next_head` takes
 * the place of `new_head`, which the previous release still uses. `runs.evidence` lists what each attempt of a decider
 * cost; `runs.call_id` names the HTTP request that waits for the run. `journal_heads.active_minute` is the Unix time of
 * the last entry in minutes: consumers read what changed since. It moves once a minute, so that most updates of a head
 * touch no index.
 */
export const commitRows: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create type runtime.next_head as (
        deployment_id bigint,
        seq bigint,
        hash text,
        totals jsonb,
        prev_seq bigint,
        prev_hash text
      )`.execute(db);
    await sql`
      alter table runtime.runs
        add column step integer not null default 0,
        add column evidence jsonb,
        add column call_id uuid`.execute(db);
    await sql`create index runs_of_call on runtime.runs (call_id) where call_id is not null`.execute(db);
    await sql`alter table runtime.journal_heads add column active_minute integer not null default 0`.execute(
      db,
    );
    await sql`
      create index journal_heads_active on runtime.journal_heads (active_minute, deployment_id)`.execute(db);
  },
};
