import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, numberOfBase62 } from './base62.js';

/**
 * `orrery_` + key id (12) + secret (43: 256 bits) + CRC-32 of all before it (6), in base 62. The fixed shape and the
 * checksum let secret scanners recognise a leaked key, and let us refuse a mistyped one without asking the database.
 */
export const TOKEN_PATTERN = /^orrery_([0-9A-Za-z]{12})[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/;

export interface NewToken {
  keyId: string;
  /** Shown once, never stored. */
  token: string;
  hash: Buffer;
}

/** What a token says about itself; whether it is true only the stored hash can tell. */
export interface ClaimedToken {
  keyId: string;
  hash: Buffer;
}

export function newToken(random: (bytes: number) => Buffer = randomBytes): NewToken {
  const keyId = base62(BigInt(`0x${random(8).toString('hex')}`), 12).slice(-12);
  const secret = base62(BigInt(`0x${random(32).toString('hex')}`), 43);
  const body = `orrery_${keyId}${secret}`;
  const token = `${body}${base62(BigInt(crc32(body)), 6)}`;
  return { keyId, token, hash: hashOf(token) };
}

/** `undefined` for what cannot be one of our tokens. */
export function parseToken(token: string): ClaimedToken | undefined {
  const [, keyId, sum] = TOKEN_PATTERN.exec(token) ?? [];
  if (keyId === undefined || sum === undefined) return undefined;
  // As numbers, since each request takes it: to read six digits costs less than to write them.
  if (crc32(token.slice(0, -6)) !== numberOfBase62(sum)) return undefined;
  return { keyId, hash: hashOf(token) };
}

/** The secret has 256 random bits, so one round of SHA-256 is enough: there is nothing to guess. */
const hashOf = (token: string): Buffer => Buffer.from(hash('sha256', token, 'binary'), 'binary');
