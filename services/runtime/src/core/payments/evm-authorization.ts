import { checksumAddress, type JsonObject, ServiceError } from '@orrery/contracts';
import { z } from 'zod';
import type { OfferReader, Requirement } from './payment.js';

/** Letters count in any case; those in the wrong case would be refused as a broken checksum later. */
const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const uint256 = z
  .string()
  .regex(/^\d{1,78}$/, { abort: true })
  .refine((text) => BigInt(text) < 2n ** 256n);

const signedAuthorization = z.object({
  signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2}){1,4096}$/),
  authorization: z.object({
    from: evmAddress,
    to: evmAddress,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
  }),
});
export type SignedAuthorization = z.infer<typeof signedAuthorization>;

/** A payment in an ERC-20 token with EIP-3009. @throws `invalid_payment` */
export function readAuthorization(payload: JsonObject): SignedAuthorization {
  const read = signedAuthorization.safeParse(payload);
  if (read.success) return read.data;
  const at = read.error.issues[0]?.path.join('/') ?? '';
  throw new ServiceError(
    'invalid_payment',
    `The payment is no signed EIP-3009 authorization: see payload/${at}.`,
  );
}

/** Reads payments that are signed EIP-3009 authorizations. */
export const evmReader: OfferReader = (payload, requirement, now) => {
  const signed = readAuthorization(payload);
  const mismatch = mismatchOf(signed, requirement, now);
  if (mismatch !== undefined) return { mismatch };
  const { signature, authorization } = signed;
  return {
    // The payer and the nonce name an authorization of a token for ever.
    key: [requirement.caip2, requirement.asset, authorization.from, authorization.nonce]
      .join('/')
      .toLowerCase(),
    payer: checksumAddress(authorization.from),
    // Only what is signed: the chain takes nothing else.
    payload: { signature, authorization: { ...authorization } },
    validUntil: Number(authorization.validBefore) * 1000,
  };
};

/**
 * An authorization may be valid for this long, in seconds: many times what is asked for. The outcome of one whose
 * settlement is unknown is asked of its chain until it has ended.
 */
const MAX_VALID_S = 600n;

function mismatchOf(
  { authorization: { to, value, validAfter, validBefore } }: SignedAuthorization,
  { payTo, amount }: Requirement,
  now: number,
): string | undefined {
  const seconds = BigInt(Math.floor(now / 1000));
  if (to !== payTo.toLowerCase()) return 'The payment is for another receiver.';
  if (BigInt(value) !== BigInt(amount)) return `The payment is not of the amount required, ${amount}.`;
  if (BigInt(validAfter) > seconds) return 'The payment is not valid yet.';
  if (BigInt(validBefore) > seconds + MAX_VALID_S)
    return `The payment is valid for too long: "validBefore" may be at most ${MAX_VALID_S} seconds ahead.`;
  return undefined;
}
