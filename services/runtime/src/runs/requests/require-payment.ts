import { isDeepStrictEqual } from 'node:util';
import {
  canonicalHash,
  type OnceKey,
  type PaymentDemand,
  replayNameOf,
  ServiceError,
} from '@orrery/contracts';
import { type Execution, readForExecution } from '@orrery/deciding';
import type { Payment, Requirement, Resource } from '../../core/payments/payment.js';
import { type PaymentReason, sentenceOf } from '../../core/payments/payment-reasons.js';
import { PAYMENT_IDENTIFIER } from '../../core/payments/read-offer.js';
import { demandOf } from '../../core/payments/requirements.js';
import type { OnceRequest } from '../../lane/items/once-item.js';
import type { ItemOutcome } from '../../lane/items/work-item.js';
import { claimPayment } from '../../store/runs/account-wide.js';
import { readUsedKeys } from '../../store/runs/once-store.js';
import { isVerifiedBefore } from '../../store/runs/payment-store.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import type { Listing } from './listing.js';
import type { ExecutionRequest, Offer } from './resolve-event.js';
import type { RunDependencies } from './run-dependencies.js';

/** A payment that fulfils the requirements and is still to be verified, outside the lane. */
export interface PaymentToVerify {
  readonly toVerify: Payment;
}

interface PriceContext {
  readonly execution: Execution;
  readonly state: DeploymentState;
  readonly offer: Offer;
  readonly priceUsd: number;
  readonly now: number;
  readonly listing: Listing;
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
export function requirePayment<T>(
  { payments }: RunDependencies,
  { execution, state, offer, priceUsd, now, listing }: PriceContext,
  accept: (payment: Payment) => ItemOutcome<T>,
): ItemOutcome<T | PaymentToVerify> {
  const found = readForExecution(execution, state.instances);
  // What cannot be executed is refused for that, and never asks for money.
  if (found.kind === 'refused') return { kind: 'refuse', error: found.error };
  const payTo = state.row.pay_to_address;
  if (payTo === null) throw new ServiceError('pay_to_address_missing', NO_RECEIVER);
  const requirements = payments.requirements({ priceUsd, payTo, maxTimeoutSeconds: VALID_S });
  if (requirements === 'prepare') return { kind: 'prepare' };
  const resource = { ...resourceOf(execution, offer), ...listing };
  if (offer.payment === null)
    throw demanded('payment_required', 'The execution costs a payment.', requirements, resource);
  const read = payments.read(offer.payment, requirements, resource);
  if ('mismatch' in read) throw demanded('payment_refused', read.mismatch, requirements, resource);
  const { payment } = read;
  const isVerified = isSame(offer.verified, payment);
  const isLate = decidedBy(payment) - now < DECIDING_MS;
  // Of a payer that calls only the payment tells whether this is a repetition, which may come late.
  if (isLate && (isVerified || offer.byPayer !== true))
    throw demanded('payment_refused', 'The payment has expired or expires too soon.', requirements, resource);
  return isVerified ? accept(payment) : { kind: 'answer', answer: { toVerify: payment } };
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

/** A request with its payment verified, or known to be in use, and the payment among its once-keys. */
export interface PaidRequest {
  readonly request: ExecutionRequest;
  readonly once: OnceRequest | undefined;
}

/**
 * Has the facilitator verify a payment, outside the lane. A payment that is in use is not verified: the once-keys tell
 * whether this is a repetition. Where the payer is the caller, whoever saw the payment on its chain could ask for its outcome:
 * only the very payment that was verified counts as known, and any other goes to the facilitator first.
 * @throws `payment_refused`, `unavailable`
 */
export async function verifyPayment(
  { db, payments, homes }: RunDependencies,
  asked: PaidRequest,
  payment: Payment,
): Promise<PaidRequest> {
  const key = { scope: 'payment' as const, key: payment.key };
  const isKnown =
    asked.request.offer?.byPayer === true
      ? () => isVerifiedBefore(db, payment)
      : async () => (await readUsedKeys(db, [key])).length > 0;
  if (await isKnown()) return claiming(payments, asked, payment);
  const reason = await payments.verify(payment);
  if (reason === undefined) {
    await claimFor(homes, asked.request, payment);
    const { request, once } = await claiming(payments, asked, payment);
    const offer = { payment: null, resource: payment.resource.url, ...request.offer, verified: payment };
    return { once, request: { ...request, offer } };
  }
  // Another copy of it was settled meanwhile.
  if (await isKnown()) return claiming(payments, asked, payment);
  const detail =
    `The facilitator finds the payment not valid. ${sentenceOf(reason)} A frequent cause is that the payer holds less of ` +
    `the asset on ${payment.requirement.network} than the payment takes.`;
  throw demanded('payment_refused', detail, [payment.requirement], payment.resource, { reason });
}

/** Before the run is accepted, so that no deployment of another database takes the same payment. @throws `payment_already_used` */
async function claimFor(
  homes: RunDependencies['homes'],
  { deploymentId }: ExecutionRequest,
  { key, validUntil }: Payment,
): Promise<void> {
  if (homes.isOnly() || (await claimPayment(homes.directory, { key, deploymentId, validUntil }))) return;
  throw new ServiceError(
    'payment_already_used',
    'The payment pays for another execution. Make a new payment.',
  );
}

/** The request with what its payment says: who calls, where nobody has signed, and the once-keys. */
async function claiming(
  payments: RunDependencies['payments'],
  { request, once }: PaidRequest,
  payment: Payment,
): Promise<PaidRequest> {
  const key = { scope: 'payment' as const, key: payment.key };
  const others = once?.keys.filter(({ scope }) => scope === 'message') ?? [];
  const byPayer = request.offer?.byPayer === true;
  if (!byPayer && payment.identifier === undefined)
    return { request, once: once && { ...once, keys: [...others, key] } };
  const payer = await payments.payerOf(payment);
  const keys = [...others, key, ...identifierKeys(request, payment, payer)];
  if (!byPayer) return { request, once: once && { ...once, keys } };
  const requestHash = publicRequestHash(request, payer);
  return { request: { ...request, walletAddress: payer }, once: { ...once, keys, requestHash } };
}

/** What a payer calls the execution, which says something of this event and this payer alone. */
const identifierKeys = (
  { deploymentId, event }: ExecutionRequest,
  { identifier }: Payment,
  payer: string,
): OnceKey[] =>
  identifier === undefined
    ? []
    : [{ scope: PAYMENT_IDENTIFIER, key: canonicalHash({ payer, deploymentId, event, identifier }) }];

/** Tells a repetition of a public execution from another request of the same wallet. */
export const publicRequestHash = (
  { deploymentId, event, input }: Pick<ExecutionRequest, 'deploymentId' | 'event' | 'input'>,
  wallet: string,
): string => canonicalHash({ deploymentId, event, input, wallet: replayNameOf(wallet) });
