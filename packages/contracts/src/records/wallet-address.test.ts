import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { newDeployment } from '../runtime/deployments.js';
import { walletAddress } from './wallet-address.js';

/** The examples of EIP-55. */
const CHECKSUMMED = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

describe('a wallet address', () => {
  it.each([
    ...CHECKSUMMED,
    ...CHECKSUMMED.map((address) => address.toLowerCase()),
    `0x${'5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED'}`,
    `0x${'0'.repeat(40)}`,
    bs58.encode(new Uint8Array(32).fill(7)),
    '11111111111111111111111111111111',
  ])('may be %s', (text) => {
    expect(walletAddress.parse(text)).toBe(text);
  });

  it.each([
    'zz',
    '',
    '0xabc',
    '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    `0X${'a'.repeat(40)}`,
    `0x${'g'.repeat(40)}`,
    'a'.repeat(40),
    bs58.encode(new Uint8Array(31).fill(7)),
    bs58.encode(new Uint8Array(33).fill(7)),
    `${bs58.encode(new Uint8Array(32).fill(7))} `,
    '1'.repeat(44),
  ])('may not be %j', (text) => {
    expect(walletAddress.safeParse(text).error?.issues).toMatchObject([
      { message: expect.stringMatching(/40 hexadecimal digits.*base58 text of 32 bytes\.$/) },
    ]);
  });

  it('is what a deployment pays to', () => {
    const deployment = { name: 'Season 1', bindings: [] };
    expect(newDeployment.safeParse({ ...deployment, payToAddress: 'zz' }).success).toBe(false);
    expect(newDeployment.safeParse({ ...deployment, payToAddress: CHECKSUMMED[0] }).success).toBe(true);
  });
});
