import {
  type CallContext,
  type Caller,
  type FieldProblem,
  type HttpBinding,
  requestPath,
  type Said,
  tagged,
  withWarnings,
} from '@orrery/contracts';
import { answerOnce, keyedRequest, transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { CatalogLimits } from '../core/limits.js';
import { type Db, nowOf, type Pool, type Trx } from '../store/tables/db.js';

/** What the operations work with, built in `service.ts`. */
export interface CatalogContext {
  readonly db: Db;
  /** For prepared statements. */
  readonly pool: Pool;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  /** Asks the gateway for an account's quota and stores it. */
  readonly learnQuota: (accountId: number, signal?: AbortSignal) => Promise<void>;
}

/** A transaction that changes definitions. */
export interface Change {
  readonly trx: Trx;
  /** Written to the rows and told in the messages. */
  readonly now: Date;
  readonly limits: CatalogLimits;
}

/** What a caller changes. */
export interface CallersChange extends Change {
  readonly caller: Caller;
}

/** Changes definitions in one transaction. */
export const changing = <T>(
  context: CatalogContext,
  { caller }: Pick<CallContext, 'caller'>,
  change: (change: CallersChange) => Promise<T>,
): Promise<T> =>
  transaction(context.db, (trx) => change({ trx, caller, now: nowOf(context), limits: context.limits }));

interface CreateRequest {
  params: object;
  headers: { 'idempotency-key'?: string | undefined };
  body: object;
}

/** Creates something in one transaction. With an `Idempotency-Key`, a repetition gets the first answer. */
export function createOnce<Reply>(
  context: CatalogContext,
  rpc: { http: HttpBinding },
  { params, headers, body }: CreateRequest,
  call: CallContext,
  create: (change: CallersChange) => Promise<Reply>,
): Promise<Reply> {
  const operation = `${rpc.http.method} ${requestPath(rpc.http, { ...params })}`;
  const key = headers['idempotency-key'];
  const keyed = keyedRequest(operation, key, body, call.caller, context.clock.now());
  return changing(context, call, (change) => answerOnce(change.trx, keyed, () => create(change)));
}

/** Deletes something in one transaction. */
export async function deleting(
  context: CatalogContext,
  call: CallContext,
  remove: (change: CallersChange) => Promise<void>,
) {
  await changing(context, call, remove);
  return { data: { deleted: true as const } };
}

/** An answer that tells likely mistakes that are allowed. */
export const warned = <T extends object>(
  data: T,
  warnings: readonly FieldProblem[],
): Said & { data: T; etag: string } => ({ ...tagged(data), ...withWarnings(warnings) });
