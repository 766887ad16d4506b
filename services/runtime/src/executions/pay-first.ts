import { isDeepStrictEqual } from 'node:util';
import { type OfferedPayment, type PaymentDemand, ServiceError } from '@orrery/contracts';
import { readForExecution } from '../execution/execute-event.js';
import type { Execution } from '../execution/execution.js';
import type { Payment, Requirement, Resource } from '../payments/payment.js';
import type { PaymentReason } from '../payments/payment-reasons.js';
import type { Payments } from '../payments/payments.js';
import { demandOf } from '../payments/requirements.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { ItemOutcome } from '../state/work-item.js';

/** What a wallet offers for an execution. */
export interface Offer {
  readonly payment: OfferedPayment | null;
  /** The address of the call that is paid for. */
  readonly resource: string;
  /** The same payment once the facilitator has verified it. */
  readonly verified?: Payment;
}

/** A payment that fulfils the requirements and is still to be verified, outside the lane. */
export interface PaymentToVerify {
  readonly toVerify: Payment;
}

export interface PriceContext {
  readonly execution: Execution;
  readonly state: DeploymentState;
  readonly offer: Offer;
  readonly priceUsd: number;
  readonly now: number;
}

/** Seconds for which a payment is asked to be valid: for as long its settlement may be unclear. A model has less. */
const VALID_S = 120;
/** A payment must be valid for this long after the decision, in milliseconds: it is settled then. */
const SETTLING_MS = 25_000;
/** The least time that a decision gets, in milliseconds. */
const DECIDING_MS = 5000;

/** When a paid execution must have been decided, in milliseconds since the epoch: inside the payment's validity. */
export const decidedBy = ({ validUntil }: Payment): number => validUntil - SETTLING_MS;

/**
 * The payment before the execution: what is asked for is computed here, in the lane, from the price and the receiver as
 * they now stand, and a payment is accepted only for exactly that.
 *
 * @param accept takes the execution on with its verified payment
 * @throws `payment_required`, `payment_refused`, `pay_to_address_missing`, `invalid_payment`
 */
export function payFirst<T>(
  payments: Pick<Payments, 'requirements' | 'read'>,
  { execution, state, offer, priceUsd, now }: PriceContext,
  accept: (payment: Payment) => ItemOutcome<T>,
): ItemOutcome<T | PaymentToVerify> {
  const found = readForExecution(execution, state.instances);
  // What cannot be executed is refused for that, and never asks for money.
  if (found.kind === 'refused') return { kind: 'refuse', error: found.error };
  const payTo = state.row.pay_to_address;
  if (payTo === null) throw new ServiceError('pay_to_address_missing', NO_RECEIVER);
  const requirements = payments.requirements({ priceUsd, payTo, maxTimeoutSeconds: VALID_S });
  if (requirements === 'prepare') return { kind: 'prepare' };
  const resource = resourceOf(execution, offer);
  if (offer.payment === null)
    throw demanded('payment_required', 'The execution costs a payment.', requirements, resource);
  const read = payments.read(offer.payment, requirements, resource);
  if ('mismatch' in read) throw demanded('payment_refused', read.mismatch, requirements, resource);
  const { payment } = read;
  if (decidedBy(payment) - now < DECIDING_MS)
    throw demanded('payment_refused', 'The payment has expired or expires too soon.', requirements, resource);
  return isSame(offer.verified, payment)
    ? accept(payment)
    : { kind: 'answer', answer: { toVerify: payment } };
}

const NO_RECEIVER = 'The deployment has no payToAddress: nobody can pay until its owner sets one.';

const isSame = (verified: Payment | undefined, payment: Payment): boolean =>
  verified?.key === payment.key && isDeepStrictEqual(verified.requirement, payment.requirement);

const resourceOf = ({ event, deployment }: Execution, { resource: url }: Offer): Resource => ({
  url,
  description: `One execution of "${event}" in the deployment ${deployment.address}`,
});

/** A 402 with what is required. */
export const demanded = (
  code: 'payment_required' | 'payment_refused',
  detail: string,
  requirements: readonly Requirement[],
  resource: Resource,
  facts: { readonly reason?: PaymentReason } = {},
): ServiceError => {
  const demand: PaymentDemand = demandOf(requirements, resource, detail);
  return new ServiceError(code, detail, { facts: { ...facts, ...demand } });
};
