import {
  type CallContext,
  type Cancellation,
  type FieldProblem,
  type HttpBinding,
  requestPath,
  withWarnings,
} from '@orrery/contracts';
import { answerOnce, keyedRequest, transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { CatalogLimits } from '../core/limits.js';
import type { Announce } from '../store/changes.js';
import type { Db, Pool, Trx } from '../store/tables/db.js';

/** What the operations work with, built in `service.ts`. */
export interface CatalogContext {
  readonly db: Db;
  /** For prepared statements. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  /** Writes a change to the outbox, in the transaction that makes it. */
  readonly announce: Announce;
  /** Asks the gateway for an account's quota and stores it. */
  readonly learnQuota: (accountId: number, signal?: Cancellation) => Promise<void>;
}

interface CreateRequest {
  params: object;
  headers: { 'idempotency-key'?: string | undefined };
  body: object;
}

/** Runs a creation in one transaction. With an `Idempotency-Key`, a repetition gets the first answer. */
export function createOnce<Reply>(
  { db, clock }: CatalogContext,
  rpc: { http: HttpBinding },
  { params, headers, body }: CreateRequest,
  call: CallContext,
  create: (trx: Trx) => Promise<Reply>,
): Promise<Reply> {
  const operation = `${rpc.http.method} ${requestPath(rpc.http, { ...params })}`;
  const key = headers['idempotency-key'];
  const keyed = keyedRequest(operation, key, body, call.caller, clock.now());
  return transaction(db, (trx) => answerOnce(trx, keyed, () => create(trx)));
}

/** The answer of a deletion in one transaction. */
export async function deleteIn({ db }: CatalogContext, remove: (trx: Trx) => Promise<void>) {
  await transaction(db, remove);
  return { data: { deleted: true as const } };
}

/** An answer whose message tells likely mistakes that are allowed. */
export function withMessage<T>(data: T, warnings: readonly FieldProblem[]): { data: T; message?: string } {
  const message = withWarnings(warnings);
  return { data, ...(message !== undefined && { message }) };
}
