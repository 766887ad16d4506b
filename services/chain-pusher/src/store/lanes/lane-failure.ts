import { ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Submission } from '../../core/submissions/submission.js';
import { dropSubmission } from '../submissions/submission-store.js';
import type { Db, Lane, Trx } from '../tables/schema.js';

/** Tries of a single push, after which it has failed: when it was refused, and when the node's words say less. */
const MAX_TRIES = { refused: 5, unclear: 10 } as const;

export interface Failure {
  readonly kind: keyof typeof MAX_TRIES;
  readonly reason: string;
  /** The first pause; it doubles. */
  readonly retryMs: number;
}

/**
 * The chain refused a submission: its pushes are tried again after a growing pause, one by one, so that the one at fault is
 * found. After `MAX_TRIES` that one has failed and its lane stops. Of a submission without pushes nothing is left.
 */
export async function failSubmission(
  trx: Trx,
  submission: Pick<Submission, 'id' | 'deployment' | 'chain' | 'from' | 'to'>,
  { kind, reason, retryMs }: Failure,
): Promise<void> {
  const { deployment, chain, from, to } = submission;
  await dropSubmission(trx, submission, { code: 'push_refused', detail: reason });
  const isSingle = from === to;
  const { rows } = await sql<{ failures: number }>`
    update lanes set failures = case when ${isSingle} then failures + 1 else greatest(failures, 1) end,
      wait_until = now() + ${retryMs} * power(2, least(failures, 6)) * interval '1 millisecond'
    where deployment = ${deployment} and chain = ${chain}
    returning failures`.execute(trx);
  // The first failure of a single push counts from here; one that was found in a batch counts from its own.
  if (!isSingle || (rows[0]?.failures ?? 0) < MAX_TRIES[kind]) return;
  await sql`
    update lanes set stop = 'failed' where deployment = ${deployment} and chain = ${chain}`.execute(trx);
  await sql`
    update pushes set status = 'failed', changed_at = now()
    where deployment = ${deployment} and chain = ${chain} and number = ${from}`.execute(trx);
}

/** Failures of a lane in a row. */
export async function failuresOf(db: Db, { deployment, chain }: Lane): Promise<number> {
  const lane = await db
    .selectFrom('lanes')
    .select('failures')
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .executeTakeFirst();
  return lane?.failures ?? 0;
}

/** A submission of the lane had its effect: what comes next is tried as if nothing had failed. */
export const forgetFailures = (trx: Trx, { deployment, chain }: Lane) =>
  sql`
    update lanes set failures = 0 where deployment = ${deployment} and chain = ${chain} and failures > 0`.execute(
    trx,
  );

/** `retry`: it is tried again as it is. `skip`: only its digest is pushed, under the same number. */
export type Remedy = 'retry' | 'skip';

/** Lets a lane that a failed push stopped go on. @throws `push_not_failed` */
export async function remedyFailed(
  trx: Trx,
  { deployment, chain }: Lane,
  number: number,
  remedy: Remedy,
): Promise<void> {
  const { rows } = await sql`
    update lanes set stop = null, failures = 0, wait_until = null
    where deployment = ${deployment} and chain = ${chain} and stop = 'failed'
      and exists (select from pushes where deployment = ${deployment} and chain = ${chain} and number = ${number}
        and status = 'failed')
    returning deployment`.execute(trx);
  if (rows.length === 0) {
    throw new ServiceError('push_not_failed', 'Only a push that has failed can be retried or skipped.');
  }
  await sql`
    update pushes set status = 'queued', error = null, changed_at = now(),
      truncated = truncated or ${remedy === 'skip'}
    where deployment = ${deployment} and chain = ${chain} and number = ${number}`.execute(trx);
}
