import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { PauseCause, PendingPause } from '../deployments/pause-for-cause.js';

/** The operator's pauses, wherever a deployment does not follow them yet. */
export const operatorPauses = (db: Db): PauseCause => ({
  name: 'operator',
  caller: 'operator',
  pending: async (limit) => {
    const { rows } = await sql<PendingPause>`
      select d.id, d.address, p.paused from operator_pauses p join deployments d on d.id = p.deployment_id
      where d.operator_paused <> p.paused and d.deleted_at is null limit ${limit}`.execute(db);
    return rows;
  },
});

/** Where a deployment stands with the operator. */
export interface OperatorPause {
  readonly id: number;
  readonly address: string;
  /** What its owner has carried out. */
  readonly isPaused: boolean;
}

/** By address (in any case) or numeric id; `undefined` when there is no such deployment. */
export async function findOperatorPause(db: Db, deployment: string): Promise<OperatorPause | undefined> {
  const named = /^\d{1,15}$/.test(deployment)
    ? sql`id = ${Number(deployment)}`
    : sql`address = ${deployment.toLowerCase()}`;
  const { rows } = await sql<OperatorPause>`
    select id, address, operator_paused as "isPaused" from deployments
    where ${named} and deleted_at is null`.execute(db);
  return rows[0];
}

/** Asks for a deployment to be paused or resumed: its owner does so within seconds, in the order of its executions. */
export async function requestOperatorPause(db: Db, deploymentId: number, paused: boolean): Promise<void> {
  await sql`
    insert into operator_pauses (deployment_id, paused) values (${deploymentId}, ${paused})
    on conflict (deployment_id) do update set paused = excluded.paused`.execute(db);
}
