import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type OfferedPayment,
  ServiceError,
} from '@orrery/contracts';
import type { OfferReader, Payment, Requirement, Resource } from './payment.js';

/** The extension of x402 by which a payer names what it pays for. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';

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
  const { extensions: declared = {}, ...named } = resource;
  const extensions = x402Version === 1 ? {} : extensionsIn(offered['extensions'], declared);
  const payment = { ...read, x402Version, requirement: choice, resource: named };
  if (Object.keys(extensions).length === 0) return { payment };
  const identifier = (extensions[PAYMENT_IDENTIFIER]?.['info'] as { id?: string } | undefined)?.id;
  return { payment: { ...payment, extensions, ...(identifier && { identifier }) } };
}

const IDENTIFIER = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * The extensions that came with a payment and were offered for it, as we offered them: a payer adds its identifier and changes
 * nothing else, so it cannot describe the event to a catalogue. @throws `invalid_payment` for an identifier that is none
 */
function extensionsIn(
  sent: JsonValue | undefined,
  declared: NonNullable<Resource['extensions']>,
): Record<string, JsonObject> {
  if (!isJsonObject(sent)) return {};
  const known = Object.entries(declared).filter(([name]) => Object.hasOwn(sent, name));
  return Object.fromEntries(
    known.map(([name, ours]) => [name, name === PAYMENT_IDENTIFIER ? identified(ours, sent[name]) : ours]),
  );
}

function identified(ours: JsonObject, sent: JsonValue | undefined): JsonObject {
  const info = isJsonObject(sent) ? sent['info'] : undefined;
  const id = isJsonObject(info) ? info['id'] : undefined;
  if (id === undefined) return ours;
  if (typeof id === 'string' && IDENTIFIER.test(id))
    return { ...ours, info: { ...(ours['info'] as JsonObject), id } };
  throw new ServiceError(
    'invalid_payment',
    'A payment identifier has 16 to 128 letters, digits, hyphens and underscores.',
  );
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
