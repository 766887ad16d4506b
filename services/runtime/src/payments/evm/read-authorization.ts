import { type JsonObject, ServiceError } from '@orrery/contracts';
import { z } from 'zod';
import type { OfferReader, Requirement } from '../payment.js';

const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const uint256 = z
  .string()
  .regex(/^\d{1,78}$/)
  .refine((text) => BigInt(text) < 2n ** 256n);

/** An EIP-3009 authorization with its signature, which may be that of a smart wallet. */
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
    key: keyOfAuthorization(signed, requirement),
    payer: authorization.from,
    // Only what is signed: the chain takes nothing else.
    payload: { signature, authorization: { ...authorization } },
    validUntil: validUntilOf(signed),
  };
};

/** Why an authorization does not fulfil a requirement, as far as it can be told without the chain. */
function mismatchOf(
  { authorization: { to, value, validAfter } }: SignedAuthorization,
  { payTo, amount }: Requirement,
  now: number,
): string | undefined {
  if (to.toLowerCase() !== payTo.toLowerCase()) return 'The payment is for another receiver.';
  if (BigInt(value) !== BigInt(amount)) return `The payment is not of the amount required, ${amount}.`;
  if (BigInt(validAfter) > BigInt(Math.floor(now / 1000))) return 'The payment is not valid yet.';
  return undefined;
}

/** The payer and the nonce name an authorization of a token for ever. */
const keyOfAuthorization = (
  { authorization: { from, nonce } }: SignedAuthorization,
  { caip2, asset }: Pick<Requirement, 'caip2' | 'asset'>,
): string => `${caip2}/${asset}/${from}/${nonce}`.toLowerCase();

/** Milliseconds since the epoch. */
const validUntilOf = ({ authorization: { validBefore } }: SignedAuthorization): number =>
  Math.min(Number(validBefore), 32_503_680_000) * 1000;
