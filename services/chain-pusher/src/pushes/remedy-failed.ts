import { ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Trx } from '../database/schema.js';

/** `retry`: it is tried again as it is. `skip`: only its digest is pushed, under the same number. */
export type Remedy = 'retry' | 'skip';

export interface PushKey {
  readonly deployment: string;
  readonly chain: string;
  readonly number: number;
}

/** Lets a lane that a failed push stopped go on. @throws `push_not_failed` */
export async function remedyFailed(
  trx: Trx,
  { deployment, chain, number }: PushKey,
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
