import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import nacl from 'tweetnacl';
import { describe, expect, it } from 'vitest';
import { isSignatureOf } from '../src/core/signatures/verify-signature.js';

/**
 * The 1,024 vectors of the authors of Ed25519 (`sign.input` at ed25519.cr.yp.to, public domain; taken from Debian's
 * package python3-cryptography-vectors 38.0.4). The n-th one is a public key, a signature and a message of n bytes.
 */
const bytes = readFileSync(new URL('./fixtures/ed25519-sign-input.bin', import.meta.url));
const vectors = Array.from({ length: 1024 }, (_, length) => {
  const start = length * 96 + (length * (length - 1)) / 2;
  const part = (from: number, to: number) => bytes.subarray(start + from, start + to);
  return { key: part(0, 32), signature: part(32, 96), message: part(96, 96 + length) };
});

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const toNumber = (text: Uint8Array) => BigInt(`0x${Buffer.from(text).reverse().toString('hex')}`);
const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const sha512 = (...parts: Uint8Array[]) => createHash('sha512').update(Buffer.concat(parts)).digest();
const flipped = (text: Uint8Array, bit: number) =>
  Uint8Array.from(text, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));

describe('the vectors of the authors of Ed25519', () => {
  it('are all accepted', async () => {
    expect(bytes).toHaveLength(1024 * 96 + (1023 * 1024) / 2);
    const accepted = await Promise.all(
      vectors.map(({ key, message, signature }) => isSignatureOf(key, message, signature)),
    );
    expect(accepted.filter(Boolean)).toHaveLength(1024);
  });

  it('are all refused with one bit changed in the key, in R, in S or in the message', async () => {
    const changed = vectors.flatMap(({ key, message, signature }, index) => [
      isSignatureOf(flipped(key, index % 256), message, signature),
      isSignatureOf(key, message, flipped(signature, index % 256)),
      isSignatureOf(key, message, flipped(signature, 256 + (index % 256))),
      message.length > 0 && isSignatureOf(key, flipped(message, index % (message.length * 8)), signature),
    ]);
    expect((await Promise.all(changed)).filter(Boolean)).toEqual([]);
  });

  it('are all refused with S + L, which names the same point', async () => {
    const twins = vectors.map(({ key, message, signature }) => {
      const s = toBytes(toNumber(signature.subarray(32)) + L);
      return isSignatureOf(key, message, Buffer.concat([signature.subarray(0, 32), s]));
    });
    expect((await Promise.all(twins)).filter(Boolean)).toEqual([]);
  });

  it('are accepted by another implementation, which takes S + L for a signature', () => {
    for (const { key, message, signature } of vectors.filter((_, index) => index % 64 === 63)) {
      expect(nacl.sign.detached.verify(message, signature, key)).toBe(true);
      const s = toNumber(signature.subarray(32)) + L;
      if (s >= 2n ** 256n) continue;
      const twin = Buffer.concat([signature.subarray(0, 32), toBytes(s)]);
      expect(nacl.sign.detached.verify(message, twin, key)).toBe(true);
    }
  });
});

describe('signatures made by hand', () => {
  const message = Buffer.from('orrery:0xabc:race:1763976600000');
  const seed = new Uint8Array(32).fill(9);
  const key = nacl.sign.keyPair.fromSeed(seed).publicKey;
  const secret = (() => {
    const half = sha512(seed).subarray(0, 32);
    half[0] = (half[0] ?? 0) & 248;
    half[31] = ((half[31] ?? 0) & 127) | 64;
    return toNumber(half);
  })();
  /** With r = 0: R is the neutral element, however it is encoded. */
  const signedWith = (encodedR: Uint8Array) => {
    const hash = toNumber(sha512(encodedR, key, message)) % L;
    return Buffer.concat([encodedR, toBytes((hash * secret) % L)]);
  };

  it('are refused where R is of small order, however it is encoded', async () => {
    const canonical = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
    const other = toBytes(2n ** 255n - 19n + 1n);
    const signOfZero = Buffer.concat([Buffer.from([1]), Buffer.alloc(30), Buffer.from([0x80])]);
    expect(await isSignatureOf(key, message, signedWith(canonical))).toBe(false);
    expect(await isSignatureOf(key, message, signedWith(other))).toBe(false);
    expect(await isSignatureOf(key, message, signedWith(signOfZero))).toBe(false);
  });

  it('are refused for keys that are no points, or no canonical ones', async () => {
    const signature = nacl.sign.detached(message, nacl.sign.keyPair.fromSeed(seed).secretKey);
    for (const y of [2n, 7n, 2n ** 255n - 19n + 2n, 2n ** 255n - 1n, 2n ** 256n - 1n])
      expect(await isSignatureOf(toBytes(y), message, signature)).toBe(false);
  });
});
