import type { PushProblem } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Trx } from '../database/schema.js';
import { type Attempt, bury } from './attempt-store.js';

/** Tries of a single push, after which it has failed: when it was refused, and when the node's words say less. */
const MAX_TRIES = { refused: 5, unclear: 10 } as const;

export interface Failure {
  readonly kind: keyof typeof MAX_TRIES;
  readonly reason: string;
  /** The first pause; it doubles. */
  readonly retryMs: number;
}

/**
 * The chain refused an attempt: its pushes are tried again after a growing pause, one by one, so that the one at fault is
 * found. After `MAX_TRIES` that one has failed and its lane stops. Of an attempt without pushes nothing is left.
 */
export async function failAttempt(
  trx: Trx,
  chain: string,
  attempt: Pick<Attempt, 'id' | 'deployment' | 'from' | 'to'>,
  { kind, reason, retryMs }: Failure,
): Promise<void> {
  const problem: PushProblem = { code: 'push_refused', detail: reason };
  await bury(trx, attempt, chain, problem);
  const isSingle = attempt.from === attempt.to;
  const { rows } = await sql<{ failures: number }>`
    update lanes set failures = case when ${isSingle} then failures + 1 else greatest(failures, 1) end,
      wait_until = now() + ${retryMs} * power(2, least(failures, 6)) * interval '1 millisecond'
    where deployment = ${attempt.deployment} and chain = ${chain}
    returning failures`.execute(trx);
  // The first failure of a single push counts from here; one that was found in a group counts from its own.
  if (!isSingle || (rows[0]?.failures ?? 0) < MAX_TRIES[kind]) return;
  await sql`
    update lanes set stop = 'failed' where deployment = ${attempt.deployment} and chain = ${chain}`.execute(
    trx,
  );
  await sql`
    update pushes set status = 'failed', changed_at = now()
    where deployment = ${attempt.deployment} and chain = ${chain} and number = ${attempt.from}`.execute(trx);
}

/** An attempt of the lane had its effect: what comes next is tried as if nothing had failed. */
export const forgetFailures = (trx: Trx, deployment: string, chain: string) =>
  sql`
    update lanes set failures = 0 where deployment = ${deployment} and chain = ${chain} and failures > 0`.execute(
    trx,
  );
