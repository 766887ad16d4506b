import { operationOf } from '../../load/wrong-operations.js';
import { PRICE, RECEIVER } from '../../worlds/toasts.js';
import type { Charge, Evidence, JournalRow, PaymentRow } from './evidence.js';

type Paid = Pick<Evidence, 'operations' | 'entries' | 'payments' | 'charges' | 'received'>;

/** Payments whose charge bought nothing, and whose owner owes it. */
const OWED = 'refund_due';

/**
 * Invariants 13 and 14, by the chain: no result without a charge to our receiver, no charge without a result or a debt that
 * is told; one charge and one execution for a payment; what was charged is what was asked for.
 */
export function wrongPayments(evidence: Paid): string[] {
  const { payments, charges, received, entries, operations } = evidence;
  const paid = entries.filter(({ paymentKey }) => paymentKey !== null);
  const found = payments.flatMap((payment) =>
    wrongPayment(
      payment,
      charges.filter(({ payer }) => isSame(payer, payment.payer)),
      paid.filter(({ paymentKey }) => paymentKey === payment.key),
    ),
  );
  const payers = new Map(operations.map(({ number, payer }) => [number, payer]));
  const unpaid = entries.filter(
    (entry) => entry.event === 'toast' && entry.status === 'succeeded' && entry.paymentKey === null,
  );
  const strangers = charges.filter(({ payer }) => !payments.some((one) => isSame(one.payer, payer)));
  const due = PRICE * BigInt(charges.length);
  return [
    ...found,
    ...unpaid.map(
      (entry) => `operation ${operationOf(entry)} of ${payers.get(operationOf(entry) ?? 0)} succeeded unpaid`,
    ),
    ...strangers.map(
      ({ payer, transaction }) => `${payer} was charged in ${transaction} for no payment of ours`,
    ),
    ...(received === due ? [] : [`the receiver has ${received}, where ${charges.length} charges are ${due}`]),
  ];
}

function wrongPayment(
  { key, status, amount, payTo }: PaymentRow,
  charges: readonly Charge[],
  entries: readonly JournalRow[],
): string[] {
  const succeeded = entries.filter((entry) => entry.status === 'succeeded').length;
  const found: string[] = [];
  if (BigInt(amount) !== PRICE || !isSame(payTo, RECEIVER)) found.push(`asks ${amount} for ${payTo}`);
  if (charges.length > 1) found.push('was charged more than once');
  if (succeeded > 1) found.push('has bought more than one execution');
  if (succeeded > charges.length) found.push('has bought an execution, and was never charged');
  if (succeeded < charges.length && status !== OWED) found.push('was charged, and has bought nothing');
  if (status === 'settled' && succeeded === 0) found.push('is settled, and has bought nothing');
  return found.map((what) => `payment ${key} (${status}) ${what}`);
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
