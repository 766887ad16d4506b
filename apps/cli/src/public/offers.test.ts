import { describe, expect, it } from 'vitest';
import { howToPay, offersOf, unaffordable } from './offers.js';

const payTo = '0x2222222222222222222222222222222222222222';
const onBase = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '50000',
  payTo,
};
const onSolana = {
  ...onBase,
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
};
const foreign = { ...onBase, asset: payTo };
const offers = (...accepts: (typeof onBase)[]) => offersOf({ accepts });
const ASKED = `It costs $0.05: 50000 units of USDC on eip155:84532, to ${payTo}.`;

describe('a price', () => {
  it('is paid where an offer is allowed', async () => {
    expect(unaffordable(await offers(onSolana, onBase), { family: 'evm', maxUsd: 0.05 })).toBeUndefined();
    expect(unaffordable(await offers(onBase, onSolana), { family: 'solana', maxUsd: 1 })).toBeUndefined();
  });

  it('that is higher than allowed says both, and what to add', async () => {
    expect(unaffordable(await offers(onBase), { family: 'evm', maxUsd: 0.01 })).toBe(
      `${ASKED} --max-usd allows $0.01: to pay add --max-usd 0.05.`,
    );
  });

  it('on a chain that the given key is not for says which key is', async () => {
    expect(unaffordable(await offers(onBase), { family: 'solana', maxUsd: 1 })).toMatch(
      /^It costs \$0\.05: .* Without --evm-key the wallet itself pays, on Solana: .* add --evm-key <file>/,
    );
    expect(unaffordable(await offers(onSolana), { family: 'evm', maxUsd: 1 })).toMatch(
      /None of these is paid by --evm-key: leave it out/,
    );
  });

  it('in an asset that is no well-known dollar is not paid', async () => {
    expect(unaffordable(await offers(foreign), { family: 'evm', maxUsd: 1 })).toBe(
      `It costs 50000 units of ${payTo} on eip155:84532, to ${payTo}. ` +
        'The command pays in well-known dollar assets alone, and this is none of them.',
    );
  });

  it('that was not to be paid says how to pay it', async () => {
    expect(howToPay(await offers(onBase))).toBe(
      `${ASKED} Nothing was paid: to pay add --pay --max-usd 0.05 --evm-key <file with a private key>.`,
    );
    expect(howToPay(await offers(onBase, onSolana))).toMatch(
      /It costs .*; or .* add --pay --max-usd 0\.05\.$/,
    );
    expect(howToPay(await offers(foreign))).toMatch(/add --pay --evm-key/);
  });
});
