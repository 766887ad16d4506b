import { parseSignature, serializeSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { hasHighS, signerOf } from './evm-signature.js';

const account = privateKeyToAccount(`0x${'07'.repeat(32)}`);
const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

it('names the address whose key has signed a text', async () => {
  const signature = bytesOf(await account.signMessage({ message: 'a 🐎' }));
  expect(signerOf('a 🐎', signature)).toBe(account.address.toLowerCase());
  expect(signerOf('b', signature)).not.toBe(account.address.toLowerCase());
});

it('names nobody for what no key has signed', () => {
  for (const bytes of [
    new Uint8Array(),
    new Uint8Array(64),
    new Uint8Array(65),
    new Uint8Array(65).fill(255),
  ])
    expect([signerOf('a', bytes), hasHighS(bytes)]).toEqual([undefined, false]);
});

it('tells the twin of a signature, which stands for the same key', async () => {
  const signature = await account.signMessage({ message: 'a' });
  const { r, s, yParity } = parseSignature(signature);
  const high = `0x${(N - BigInt(s)).toString(16).padStart(64, '0')}` as const;
  const twin = bytesOf(serializeSignature({ r, s: high, yParity: 1 - yParity }));
  expect([hasHighS(bytesOf(signature)), hasHighS(twin)]).toEqual([false, true]);
  expect(signerOf('a', twin)).toBe(account.address.toLowerCase());
});
