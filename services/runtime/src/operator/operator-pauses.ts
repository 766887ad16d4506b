import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import {
  applyPauses,
  type PauseCause,
  type PauseDependencies,
  type PendingPause,
} from '../deployments/pause-for-cause.js';

/** How often the operator's pauses are looked up, in milliseconds: nothing tells the processes of a new one. */
const INTERVAL_MS = 1000;

/** Lets deployments follow the operator's pauses, also those that were asked for while no process ran. */
export function startFollowingOperator(
  context: PauseDependencies,
  { db, clock, logger }: { readonly db: Db; readonly clock: Clock; readonly logger: Logger },
): PollLoop {
  const pauses = operatorPauses(db);
  return startPollLoop({
    name: 'operator pauses',
    intervalMs: INTERVAL_MS,
    clock,
    logger,
    runOnce: async (signal) => {
      await applyPauses(context, pauses, signal);
      return 'idle';
    },
  });
}

/** The operator's pauses, wherever a deployment does not follow them yet. */
const operatorPauses = (db: Db): PauseCause => ({
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
