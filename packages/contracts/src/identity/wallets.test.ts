import { expect, it } from 'vitest';
import { evmAccountOf, replayNameOf, storedWallet, walletAddress, walletSignature } from './wallets.js';

const SPELLED = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const LOWER = SPELLED.toLowerCase();
const BASE_58 = 'FiiqmqCTgPoxGszgEK6hPKVpPiWmGXNtq5Cm97VhLUBB';

it('stores one spelling of a wallet, and counts its messages by the account alone', () => {
  for (const wallet of [SPELLED, LOWER, `0x${LOWER.slice(2).toUpperCase()}`]) {
    expect([storedWallet(wallet), walletAddress.parse(wallet)]).toEqual([SPELLED, SPELLED]);
    expect(walletAddress.parse(`eip155:8453:${wallet}`)).toBe(`eip155:8453:${SPELLED}`);
    for (const named of [wallet, `eip155:1:${wallet}`]) expect(replayNameOf(named)).toBe(LOWER);
  }
  expect([storedWallet(BASE_58), replayNameOf(BASE_58), evmAccountOf(BASE_58)]).toEqual([
    BASE_58,
    BASE_58,
    undefined,
  ]);
  expect(evmAccountOf(`eip155:10:${LOWER}`)).toEqual({ address: SPELLED, chainId: 10 });
});

it.each([
  SPELLED.replace('d', 'D'),
  `${SPELLED}0`,
  SPELLED.slice(0, -1),
  `0X${LOWER.slice(2)}`,
  `eip155:0:${LOWER}`,
  `eip155:01:${LOWER}`,
  `eip155::${LOWER}`,
  `EIP155:1:${LOWER}`,
  `eip155:1:eip155:1:${LOWER}`,
  `eip155:1234567890123456:${LOWER}`,
  `solana:1:${BASE_58}`,
  ` ${LOWER}`,
  `${LOWER}\n`,
])('is no wallet: %j', (text) => {
  expect(walletAddress.safeParse(text).success).toBe(false);
});

it('takes signatures up to their bound', () => {
  for (const text of ['0x00', `0x${'0'.repeat(8190)}`, '2'.repeat(88)])
    expect(walletSignature.parse(text)).toBe(text);
  for (const text of ['0x', '0x0', `0x${'0'.repeat(8192)}`, '0xzz', '2'.repeat(89), `0x00\n`])
    expect(walletSignature.safeParse(text).success).toBe(false);
});
