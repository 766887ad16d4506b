import { startCpuTime } from '@orrery/contracts/test-support';
import bs58 from 'bs58';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { describe, expect, it } from 'vitest';
import { isSafePoint, readBase58 } from './encodings.js';
import { isSignatureOf } from './verify-signature.js';

const pair = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
const wallet = bs58.encode(pair.publicKey);
const sign = (message: string) => nacl.sign.detached(Buffer.from(message, 'utf8'), pair.secretKey);
const signed = (message: string) => ({ wallet, message, signature: bs58.encode(sign(message)) });

const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const toNumber = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();

it('isSignatureOf takes the bytes of key, message and signature as they are', async () => {
  const message = Buffer.from('a');
  expect(await isSignatureOf(pair.publicKey, message, sign('a'))).toBe(true);
  expect(await isSignatureOf(pair.publicKey, message, sign('b'))).toBe(false);
});

async function isSignedBy(sent: { wallet: string; message: string; signature: string }): Promise<boolean> {
  const [key, signature] = [readBase58(sent.wallet, 32), readBase58(sent.signature, 64)];
  return (
    key !== undefined && signature !== undefined && isSignatureOf(key, Buffer.from(sent.message), signature)
  );
}

describe('a signed text', () => {
  it('accepts what another implementation signed, in any script', async () => {
    for (const message of ['', 'orrery:0xabc:race:1700000000', 'événement 🐎', 'x'.repeat(5000)])
      expect(await isSignedBy(signed(message))).toBe(true);
  });

  it('refuses another message, wallet or signature', async () => {
    const one = signed('a');
    const other = bs58.encode(nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(8)).publicKey);
    expect(await isSignedBy({ ...one, message: 'b' })).toBe(false);
    expect(await isSignedBy({ ...one, wallet: other })).toBe(false);
    expect(await isSignedBy({ ...one, signature: signed('b').signature })).toBe(false);
  });

  it('refuses the malleable twin S + L, which others accept', async () => {
    const bytes = sign('a');
    const twin = Buffer.concat([bytes.subarray(0, 32), toBytes(toNumber(bytes.subarray(32)) + L)]);
    expect(await isSignedBy({ wallet, message: 'a', signature: bs58.encode(twin) })).toBe(false);
  });

  it.each([
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '0100000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000080',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  ])('refuses the small-order or non-canonical key %s', async (hex) => {
    const key = Buffer.from(hex, 'hex');
    expect(isSafePoint(key)).toBe(false);
    // R = the identity, S = 0 fits every message under a key of order one.
    const signature = Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]);
    const forged = { wallet: bs58.encode(key), message: 'anything', signature: bs58.encode(signature) };
    expect(await isSignedBy(forged)).toBe(false);
  });

  it('never throws and never accepts what was not signed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (one, message, two) => {
        expect(await isSignedBy({ wallet: one, message, signature: two })).toBe(false);
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        async (key, bytes) => {
          expect(
            await isSignedBy({ wallet: bs58.encode(key), message: 'm', signature: bs58.encode(bytes) }),
          ).toBe(false);
        },
      ),
    );
  });

  it('is not slowed down by endless text', async () => {
    const spentMs = startCpuTime();
    expect(
      await isSignedBy({ wallet: '2'.repeat(1_000_000), message: '', signature: '2'.repeat(1_000_000) }),
    ).toBe(false);
    expect(spentMs()).toBeLessThan(50);
  });
});
