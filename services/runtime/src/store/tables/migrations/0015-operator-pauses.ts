import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Deployments that the operator wants paused, or no longer paused. The command `orrery` writes it; the owners carry it
 * out, each with an entry in its journal.
 */
export const operatorPauses: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.operator_pauses (
        deployment_id bigint primary key references runtime.deployments (id),
        paused boolean not null
      )`.execute(db);
  },
};
