import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fieldProblem, type Scope, ServiceError } from '@orrery/contracts';
import type { Principal } from '../requests/operation.js';

/**
 * `orrery_` + key id (12) + secret (43: 256 bits) + CRC-32 of all before it (6), in base 62. The fixed shape and the
 * checksum let secret scanners recognise a leaked key, and let the gateway refuse a mistyped one without the database.
 */
export const TOKEN_PATTERN = /^orrery_([0-9A-Za-z]{12})[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/;

interface NewToken {
  keyId: string;
  /** Shown once, never stored. */
  token: string;
  hash: Buffer;
}

/** What a token states about itself; only the stored hash can confirm it. */
export interface ClaimedToken {
  keyId: string;
  hash: Buffer;
}

export function newToken(random: (bytes: number) => Buffer): NewToken {
  const keyId = base62(BigInt(`0x${random(8).toString('hex')}`), 12).slice(-12);
  const secret = base62(BigInt(`0x${random(32).toString('hex')}`), 43);
  const body = `orrery_${keyId}${secret}`;
  const token = `${body}${base62(BigInt(crc32(body)), 6)}`;
  return { keyId, token, hash: hashOf(token) };
}

/** `undefined` for what cannot be a token of this service. */
export function parseToken(token: string): ClaimedToken | undefined {
  const [, keyId, sum] = TOKEN_PATTERN.exec(token) ?? [];
  if (keyId === undefined || sum === undefined) return undefined;
  // Compared as numbers, since every request does it: reading six digits costs less than writing them.
  if (crc32(token.slice(0, -6)) !== numberOfBase62(sum)) return undefined;
  return { keyId, hash: hashOf(token) };
}

/** The secret has 256 random bits, so one round of SHA-256 is enough: it cannot be guessed. */
const hashOf = (token: string): Buffer => Buffer.from(hash('sha256', token, 'binary'), 'binary');

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in base 62, padded with zeros on the left to `width`. */
function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = `${DIGITS[Number(rest % 62n)]}${text}`;
  return text.padStart(width, '0');
}

/** The number that up to eight base-62 digits write; more would not be safe integers. */
function numberOfBase62(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at += 1) value = value * 62 + DIGITS.indexOf(text.charAt(at));
  return value;
}

/** A key may not create a stronger one: otherwise the scope `keys` would include all others. */
export function refuseWiderScopes({ scopes }: Principal, wanted: readonly Scope[]): void {
  const lacking = wanted.filter((scope) => !scopes.includes(scope));
  if (lacking.length > 0)
    throw new ServiceError('forbidden', `Your own key lacks these scopes: ${lacking.join(', ')}.`);
}

/** A key may not create one that is good for longer: otherwise a token of a day would be one for ever. */
export function refuseLongerLife(
  { expires_at: end }: { expires_at: Date | null },
  wanted: Date | null,
): void {
  if (end === null || (wanted !== null && wanted <= end)) return;
  throw new ServiceError(
    'forbidden',
    `Your own key ends at ${end.toISOString()}, and no key that it makes or replaces may be good for longer. A longer one ` +
      'needs the signature of the account\'s wallet (POST /auth/challenge with "purpose": "key") or the operator.',
  );
}

/** RFC 3339 has years of four digits, and with an offset a text of one may tell a later time. */
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** When a key is to end; undefined where nothing is said. @throws ServiceError `validation_failed` for one that cannot be. */
export function expiryOf(text: string | undefined, now: number): Date | undefined {
  if (text === undefined) return undefined;
  const expiresAt = new Date(text);
  if (expiresAt.getTime() > now && expiresAt.getTime() <= LAST_TIME) return expiresAt;
  const problem =
    expiresAt.getTime() > now
      ? fieldProblem(
          '/expiresAt',
          'out_of_range',
          'The time of expiry must be in the year 9999 (UTC) or earlier.',
        )
      : fieldProblem('/expiresAt', 'in_the_past', 'The time of expiry must be in the future.');
  throw new ServiceError('validation_failed', `${problem.pointer}: ${problem.message}`, {
    errors: [problem],
  });
}
