import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `timers`: executions that are to come (docs/timers.md). A row is there from the commit that sets it to the one that
 * executes, replaces or cancels it; `run_id` while a run executes it. `tree` and `number` are those of a follow-up without
 * delay: the entry that its tree begins with, and which of its executions it is.
 *
 * `timer_heads`: when the next timer of each deployment is due, which is all that an owner looks for. Null: none is pending.
 */
export const timers: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.timers (
        id uuid primary key,
        deployment_id bigint not null,
        event text not null,
        input jsonb not null,
        due_at timestamptz not null,
        key text,
        caller jsonb not null,
        set_seq bigint not null,
        set_index integer not null,
        depth integer not null,
        tree bigint,
        number integer,
        run_id uuid
      )`.execute(db);
    await sql`create unique index timers_keys on runtime.timers (deployment_id, key) where key is not null`.execute(
      db,
    );
    await sql`
      create index timers_due on runtime.timers (deployment_id, due_at, set_seq, set_index)`.execute(db);
    await sql`
      create index timers_next on runtime.timers (deployment_id, set_seq, set_index)
      where tree is not null and run_id is null`.execute(db);
    await sql`
      create table runtime.timer_heads (
        deployment_id bigint primary key,
        partition smallint not null,
        next_due timestamptz
      )`.execute(db);
    await sql`
      create index timer_heads_due on runtime.timer_heads (partition, next_due) where next_due is not null`.execute(
      db,
    );
  },
};
