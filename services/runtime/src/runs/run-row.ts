import type { Caller, ExecutionTrigger, JsonObject } from '@orrery/contracts';
import type { Selectable } from 'kysely';
import type { Db } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import type { ExecutionRequest } from '../execution/execute-item.js';

/**
 * A run: an execution that waits for the world outside, or that was asked for asynchronously. Its row is committed
 * before anything is done and claims the Idempotency-Key; each step is committed in its deployment's lane, so only the
 * owner takes steps, and a new owner goes on from the row.
 *
 *   deciding ── outside has answered: the answer and what was read are kept ──→ decided
 *   decided ── what was read has changed: decide again, and hold what is read ──→ deciding, holding
 *   decided ── applied and checked: entry and end in one commit ──→ succeeded | failed
 *   deciding ── direct: the whole execution in one commit ──→ succeeded | failed
 *   decided ── to be paid for: what it runs may not change either ──→ staged ──→ succeeded | failed
 *   any ── refused, or overdue ──→ failed
 *
 * A failure from *read* on leaves a failed entry; a refusal leaves the row alone. A row that has ended never changes and
 * is kept for more than a day.
 */
export type RunRow = Selectable<RuntimeTables['runs']>;

/** What was asked for; `asynchronous`: nobody waits, the answer is looked up. */
export interface RunRequest {
  readonly event: string;
  readonly input: JsonObject;
  readonly trigger: ExecutionTrigger;
  readonly walletAddress: string | null;
  readonly caller: Caller;
  readonly asynchronous: boolean;
}

/** Stored by `accept-run`. */
export const requestOf = ({ request }: Pick<RunRow, 'request'>): RunRequest =>
  request as unknown as RunRequest;

export const storedRequest = (row: Pick<RunRow, 'deployment_id' | 'request'>): ExecutionRequest => {
  const { event, input, trigger, walletAddress } = requestOf(row);
  return { deploymentId: row.deployment_id, event, input, trigger, walletAddress, dryRun: false };
};

export const readRun = (db: Db, id: string): Promise<RunRow | undefined> =>
  db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();

export const hasEnded = ({ ended_at }: Pick<RunRow, 'ended_at'>): boolean => ended_at !== null;
