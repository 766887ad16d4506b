import type { Db } from '../database/db.js';
import type { OnceRequest } from '../once/once-item.js';
import { readUsedKeys } from '../once/once-store.js';
import type { Payment } from '../payments/payment.js';
import { sentenceOf } from '../payments/payment-reasons.js';
import type { Payments } from '../payments/payments.js';
import type { ExecutionRequest } from './execution-request.js';
import { demanded } from './pay-first.js';

export interface VerifyDependencies {
  readonly db: Db;
  readonly payments: Pick<Payments, 'verify'>;
}

/** A request with its payment verified, or known to be in use, and the payment among its once-keys. */
export interface PaidRequest {
  readonly request: ExecutionRequest;
  readonly once: OnceRequest | undefined;
}

/**
 * Has the facilitator verify a payment, outside the lane. A payment that is in use is not verified: the once-keys tell
 * whether this is a repetition. @throws `payment_refused`, `unavailable`
 */
export async function verifyPayment(
  { db, payments }: VerifyDependencies,
  { request, once }: PaidRequest,
  payment: Payment,
): Promise<PaidRequest> {
  const key = { scope: 'payment' as const, key: payment.key };
  const keys = [...(once?.keys.filter(({ scope }) => scope !== 'payment') ?? []), key];
  const offered = { payment: null, resource: payment.resource.url, ...request.offer };
  const claimed = once && { ...once, keys };
  const isUsed = async () => (await readUsedKeys(db, [key])).length > 0;
  if (await isUsed()) return { request, once: claimed };
  const reason = await payments.verify(payment);
  if (reason !== undefined) {
    // Another copy of it was settled meanwhile.
    if (await isUsed()) return { request, once: claimed };
    const detail =
      `The facilitator finds the payment not valid. ${sentenceOf(reason)} A frequent cause is that the payer holds less of ` +
      `the asset on ${payment.requirement.network} than the payment takes.`;
    throw demanded('payment_refused', detail, [payment.requirement], payment.resource, { reason });
  }
  return { request: { ...request, offer: { ...offered, verified: payment } }, once: claimed };
}
