import {
  accountOf,
  type CallContext,
  type HttpBinding,
  type JsonValue,
  requestPath,
} from '@orrery/contracts';
import { answerOnce, type KeyedRequest, transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Db, Trx } from '../database/db.js';

interface CreateRequest {
  params: object;
  headers: { 'idempotency-key'?: string | undefined };
  body: unknown;
}

/** Runs a creation in one transaction. With an `Idempotency-Key`, a repetition gets the first answer. */
export function createOnce<Reply>(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  rpc: { http: HttpBinding },
  request: CreateRequest,
  call: CallContext,
  create: (trx: Trx) => Promise<Reply>,
): Promise<Reply> {
  const keyed = keyedRequest(rpc.http, request, call, clock.now());
  return transaction(db, (trx) => answerOnce(trx, keyed, () => create(trx)));
}

function keyedRequest(
  http: HttpBinding,
  { params, headers, body }: CreateRequest,
  { caller }: CallContext,
  now: number,
): KeyedRequest | undefined {
  const key = headers['idempotency-key'];
  const accountId = accountOf(caller);
  if (key === undefined || accountId === undefined) return undefined;
  const operation = `${http.method} ${requestPath(http, { ...params })}`;
  return { accountId, operation, key, request: body as JsonValue, now };
}
