import type { Charge, SettleCalls, SettlementReply } from './payment.js';
import type { PaymentReason } from './payment-reasons.js';

/** What is known of a settlement for sure. */
export type Verdict =
  /** A transaction of ours has charged it. */
  | { readonly kind: 'settled'; readonly transaction: string }
  /** Another's transaction has charged it. */
  | { readonly kind: 'elsewhere'; readonly transaction: string }
  /** It was not charged, and no call of ours can charge it. `isFinal`: nobody can any more. */
  | { readonly kind: 'refused'; readonly reason: PaymentReason; readonly isFinal: boolean };

export const NO_CALLS: SettleCalls = { named: [], unaccounted: false };

/** What may have become of a payment after one more call. */
export function afterReply({ named, unaccounted }: SettleCalls, reply: SettlementReply): SettleCalls {
  if (reply.kind === 'refused' || (reply.kind === 'unclear' && reply.isUnsent === true))
    return { named, unaccounted };
  const transaction = reply.kind === 'silent' ? undefined : reply.transaction;
  if (transaction === undefined) return { named, unaccounted: true };
  return { named: named.includes(transaction) ? named : [...named, transaction], unaccounted };
}

/**
 * A block may be dated this long before its transactions were sent: the clocks of chains and services differ. It may be
 * long, since all that it lets in has paid our receiver with an authorization that was verified as unused before.
 */
const CLOCK_MARGIN_MS = 300_000;

/**
 * Judges a settlement by what our calls may have sent, the last reply and the chain. Undefined: nobody can tell yet.
 *
 * A charge is ours if a reply has named its transaction, or, where a call is unaccounted for, if it came after our first
 * call. Anything else was settled elsewhere: an authorization can be submitted by whoever sees it.
 * @param since when our first call was made, in milliseconds since the epoch
 */
export function judge(
  calls: SettleCalls,
  reply: SettlementReply | undefined,
  charge: Charge | undefined,
  since: number,
): Verdict | undefined {
  if (charge?.kind === 'charged') {
    const { transaction } = charge;
    return { kind: isOurs(calls, charge, since) ? 'settled' : 'elsewhere', transaction };
  }
  if (charge?.kind === 'void') return { kind: 'refused', reason: charge.reason, isFinal: true };
  if (charge?.kind === 'unseen' && reply?.kind === 'settled')
    return { kind: 'settled', transaction: reply.transaction ?? '' };
  if (calls.unaccounted) return undefined;
  const failed = charge?.kind === 'open' ? charge.failed : [];
  if (calls.named.some((transaction) => !failed.includes(transaction))) return undefined;
  if (reply?.kind === 'refused') return { kind: 'refused', reason: reply.reason, isFinal: false };
  return calls.named.length > 0
    ? { kind: 'refused', reason: 'transaction_failed', isFinal: false }
    : undefined;
}

function isOurs(
  { named, unaccounted }: SettleCalls,
  { transaction, at }: Extract<Charge, { kind: 'charged' }>,
  since: number,
): boolean {
  if (named.includes(transaction)) return true;
  return unaccounted && at !== undefined && at >= since - CLOCK_MARGIN_MS;
}
