import bs58 from 'bs58';
import { expect, it } from 'vitest';
import { hasCanonicalScalar, isSafePoint, readBase58 } from './encodings.js';

const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

it.each([
  [0n, false],
  [1n, false],
  [P - 1n, false],
  [P, false],
  [P + 1n, false],
  [2n, true],
  [P - 2n, true],
])('takes y = %s for a safe point: %s', (y, isSafe) => {
  expect(isSafePoint(bytesOf(y))).toBe(isSafe);
});

it('takes a scalar below the order of the base point only', () => {
  const signature = (scalar: bigint) => Buffer.concat([Buffer.alloc(32), bytesOf(scalar)]);
  expect(hasCanonicalScalar(signature(L - 1n))).toBe(true);
  expect(hasCanonicalScalar(signature(L))).toBe(false);
});

it('reads base58 of the right length alone', () => {
  const bytes = Buffer.alloc(32, 7);
  expect(readBase58(bs58.encode(bytes), 32)).toEqual(new Uint8Array(bytes));
  expect(readBase58(bs58.encode(bytes), 64)).toBeUndefined();
  for (const text of ['', '0OIl', '1'.repeat(45)]) expect(readBase58(text, 32)).toBeUndefined();
});
