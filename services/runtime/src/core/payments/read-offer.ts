import { isJsonObject, type JsonObject, type OfferedPayment, ServiceError } from '@orrery/contracts';
import type { OfferReader, Payment, Requirement, Resource } from './payment.js';

/** A payment as it was offered, matched with one of our requirements; or why it fulfils none of them. */
export type ReadOffer = { readonly payment: Payment } | { readonly mismatch: string };

interface ReadOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly readerOf: (requirement: Requirement) => OfferReader;
}

/**
 * Reads an offered payment against our own requirements: nothing that it says about them is trusted.
 * @throws `invalid_payment` for what is no payment of the exact scheme
 */
export function readOffer(
  { version: x402Version, payload: offered }: OfferedPayment,
  requirements: readonly Requirement[],
  resource: Resource,
  { now, readerOf }: ReadOptions,
): ReadOffer {
  const { payload } = offered;
  if (!isJsonObject(payload))
    throw new ServiceError('invalid_payment', 'The payment has no object "payload".');
  const choice = x402Version === 1 ? choiceV1(offered, requirements) : choiceV2(offered, requirements);
  if (typeof choice === 'string') return { mismatch: choice };
  const read = readerOf(choice)(payload, choice, now);
  if ('mismatch' in read) return read;
  return { payment: { ...read, x402Version, requirement: choice, resource } };
}

const WRONG_SCHEME = 'The payment is not of the scheme "exact".';

function choiceV1(
  { scheme, network }: JsonObject,
  requirements: readonly Requirement[],
): Requirement | string {
  if (scheme !== 'exact') return WRONG_SCHEME;
  return (
    requirements.find((one) => one.network === network) ??
    'The payment is for a network in which this execution cannot be paid.'
  );
}

function choiceV2({ accepted }: JsonObject, requirements: readonly Requirement[]): Requirement | string {
  if (!isJsonObject(accepted))
    throw new ServiceError('invalid_payment', 'The payment has no object "accepted".');
  if (accepted['scheme'] !== 'exact') return WRONG_SCHEME;
  const here = requirements.filter(({ caip2 }) => caip2 === accepted['network']);
  if (here.length === 0) return 'The payment is for a network in which this execution cannot be paid.';
  const inAsset = here.find((one) => isSame(one, one.asset, accepted['asset']));
  if (inAsset === undefined) return 'The payment is in an asset in which this execution cannot be paid.';
  if (inAsset.amount !== accepted['amount'])
    return `The payment is not of the amount required, ${inAsset.amount}.`;
  if (!isSame(inAsset, inAsset.payTo, accepted['payTo'])) return 'The payment is for another receiver.';
  return inAsset;
}

/** Addresses of EVM chains are the same in either case. */
const isSame = ({ family }: Requirement, ours: string, theirs: unknown): boolean =>
  typeof theirs === 'string' &&
  (ours === theirs || (family === 'evm' && ours.toLowerCase() === theirs.toLowerCase()));
