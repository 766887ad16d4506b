import {
  type AcceptedExecution,
  type Caller,
  type ErrorReply,
  type ExecutionAnswer,
  type ExecutionRecord,
  type ExecutionTrigger,
  type ExpectedBinding,
  executionErrorOf,
  fromErrorReply,
  type JsonObject,
  type JsonValue,
  type OnceKey,
} from '@orrery/contracts';
import { jsonb } from '@orrery/database';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { type Selectable, sql } from 'kysely';
import type { Replay } from '../../core/deciding/replayed-entry.js';
import type { Payment } from '../../core/payments/payment.js';
import type { Evidence } from '../../core/prompting/model.js';
import type { FixedRound } from '../../core/randomness/beacon.js';
import { PARTITIONS } from '../leases/leases.js';
import { awaitsPayment, type Holds } from '../state/deployment-state.js';
import type { ExecutedTimer } from '../state/timer-store.js';
import type { Db, RuntimeSchema } from '../tables/schema.js';
import { releaseKeysOf } from './once-store.js';
import { releaseReservation } from './payment-store.js';

/**
 * A run: a stored execution that waits for a decider, or that its caller does not wait for. Its row is committed before
 * anything is done and claims the Idempotency-Key. Each step is committed in the deployment's lane, so only the owner
 * takes steps, and a new owner continues from the row. The steps are in `drive-run.ts`. A row that has ended never
 * changes and is kept for more than a day.
 */
export type RunRow = Selectable<RuntimeSchema['runs']>;

/** The request as the row stores it. */
export interface RunRequest {
  readonly event: string;
  readonly input: JsonObject;
  readonly trigger: ExecutionTrigger;
  readonly walletAddress: string | null;
  readonly caller: Caller;
  /** The caller does not wait: it looks up the answer. */
  readonly asynchronous: boolean;
  /** Keys that the run has claimed. */
  readonly onceKeys?: readonly OnceKey[];
  readonly expected?: ExpectedBinding | null;
  /** The payment that was verified for it. */
  readonly payment?: Payment;
  /** In a what-if fork: what it replays. */
  readonly replay?: Replay;
  /** The timer that it executes. */
  readonly timer?: ExecutedTimer;
  /** The round of the beacon that it draws from, which nobody knew when the row was written. */
  readonly round?: FixedRound;
}

export const timerOf = (row: Pick<RunRow, 'request'>): ExecutedTimer | undefined => requestOf(row).timer;

/** Written by `execute.ts`. */
export const requestOf = ({ request }: Pick<RunRow, 'request'>): RunRequest =>
  request as unknown as RunRequest;

export const paymentOf = (row: Pick<RunRow, 'request'>): Payment | undefined => requestOf(row).payment;

/** When the run ends at the latest, in milliseconds since the epoch: one that holds has less time than others. */
export const endOf = ({ deadline, holds }: Pick<RunRow, 'deadline' | 'holds'>): number =>
  // Written by the steps of the run.
  Math.min(deadline.getTime(), (holds as Holds | null)?.until ?? Number.POSITIVE_INFINITY);

export const readRun = (db: Db, id: string): Promise<RunRow | undefined> =>
  db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();

/** The run that a client's request became. */
export const readRunOfCall = (db: Db, deploymentId: number, callId: string): Promise<RunRow | undefined> =>
  db
    .selectFrom('runs')
    .selectAll()
    .where('call_id', '=', callId)
    .where('deployment_id', '=', deploymentId)
    .executeTakeFirst();

/** Whether the payment of a run is charged, and what it pays for is not committed yet. */
export const isPaid = ({ state }: Pick<RunRow, 'state'>): boolean =>
  state === 'paid' || state === 'paid_decided';

export const hasEnded = ({ ended_at }: Pick<RunRow, 'ended_at'>): boolean => ended_at !== null;

/** The answer to a caller that does not wait, the same each time. */
export const acceptedAnswer = (executionId: string): AcceptedExecution => ({
  executionId,
  state: 'running',
});

/** The answer of a run that has not ended; one whose payment was unclear says so until it ends. */
export const unendedAnswer = ({ id, state }: Pick<RunRow, 'id' | 'state'>): AcceptedExecution =>
  awaitsPayment(state) ? { executionId: id, state: 'awaiting_payment' } : acceptedAnswer(id);

/** The answer of a run that has ended. @throws ServiceError that it failed with */
export function answerOfRun({ reply, error }: RunRow): ExecutionAnswer {
  if (error !== null) throw fromErrorReply(error as unknown as ErrorReply);
  // Stored as the execution answered it.
  return reply as unknown as ExecutionAnswer;
}

/** The status of a run, as `executions.get` answers it. */
export function recordOfRun(row: RunRow): ExecutionRecord {
  const executionId = row.id;
  if (!hasEnded(row)) return unendedAnswer(row);
  if (row.error === null) return { executionId, state: 'succeeded', answer: answerOfRun(row) };
  const { facts, ...error } = executionErrorOf(fromErrorReply(row.error as unknown as ErrorReply));
  return { executionId, state: 'failed', error: { ...error, ...(facts && { facts: facts as JsonObject }) } };
}

/** How long the status of an ended run can be read, in milliseconds. */
const RETENTION_MS = 25 * 60 * 60 * 1000;
const ROWS_PER_ROUND = 1000;

/** Deletes the rows of runs that have ended long ago, round after round while any are left. */
export const startRunSweep = (
  db: Db,
  { clock, ...options }: { readonly clock: Clock; readonly logger: Logger; readonly intervalMs: number },
): PollLoop =>
  startPollLoop({
    name: 'ended runs sweep',
    clock,
    ...options,
    runOnce: async () =>
      (await deleteEndedRuns(db, new Date(clock.now() - RETENTION_MS))) === ROWS_PER_ROUND ? 'more' : 'idle',
  });

/** Resolves with how many rows were deleted. Rows that another process is deleting are left to it. */
async function deleteEndedRuns(db: Db, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from runs where id in (
      select id from runs where ended_at < ${before}
      order by ended_at limit ${ROWS_PER_ROUND} for update skip locked
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Runs that one search takes up. */
export const RUNS_AT_ONCE = 200;

/** Open runs, the most urgent first. */
export const undriven = (db: Db, partitions: readonly number[], driven: readonly string[]) =>
  db
    .selectFrom('runs')
    .select(['id', 'deployment_id'])
    .where('ended_at', 'is', null)
    .where(sql<boolean>`deployment_id % ${PARTITIONS} = any(${[...partitions]})`)
    .where(sql<boolean>`not id = any(${[...driven]}::uuid[])`)
    .orderBy('deadline')
    .limit(RUNS_AT_ONCE)
    .execute();

/** Ends a run whose deployment was deleted, so that no lane can end it. */
export async function failOrphan(
  db: Db,
  id: string,
  evidence: readonly Evidence[],
  now: Date,
): Promise<void> {
  const error = {
    code: 'deployment_not_found',
    detail: 'The deployment was deleted.',
    errors: [],
    facts: {},
  };
  await releaseKeysOf(db, id);
  await releaseReservation(db, id);
  await db
    .updateTable('runs')
    .set({
      state: 'failed',
      ended_at: now,
      error: jsonb(error),
      evidence: jsonb(evidence as unknown as JsonValue),
    })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}
