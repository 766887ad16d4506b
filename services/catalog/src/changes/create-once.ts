import { type CallContext, type HttpBinding, requestPath } from '@orrery/contracts';
import { answerOnce, keyedRequest, transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { Db, Trx } from '../database/db.js';

interface CreateRequest {
  params: object;
  headers: { 'idempotency-key'?: string | undefined };
  body: object;
}

/** Runs a creation in one transaction. With an `Idempotency-Key`, a repetition gets the first answer. */
export function createOnce<Reply>(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
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
