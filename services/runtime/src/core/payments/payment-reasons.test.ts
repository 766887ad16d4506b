import { expect, it } from 'vitest';
import { codeOfReason, codeOfText, saysUnsent, sentenceOf } from './payment-reasons.js';

const dump = (
  what: string,
) => `The contract function "transferWithAuthorization" reverted with the following reason:
${what}

Contract Call:
  address:   0x036CbD53842c5426634e7929541eC2318f3dCF7e
  URL: https://node.example/v2/SECRET
Version: viem@2.57.1`;

it.each([
  ['invalid_exact_evm_nonce_already_used', 'invalid_exact_evm_nonce_already_used'],
  ['insufficient_funds', 'insufficient_funds'],
  [dump('authorization is used or canceled'), 'authorization_used'],
  [dump('transfer amount exceeds balance'), 'insufficient_funds'],
  [dump('authorization is expired'), 'authorization_expired'],
  [dump('out of gas'), 'simulation_reverted'],
  ['Timed out while waiting for transaction with hash "0x12" to be confirmed.', undefined],
  ['', undefined],
  ['a'.repeat(101), undefined],
])('of what a facilitator says only a code is kept: %s', (said, code) => {
  expect(codeOfReason(said)).toBe(code);
});

it('a nonce that another transaction has taken is known to be unsent', () => {
  const text =
    'Nonce provided for the transaction is lower than the current nonce of the account. Try again.';
  expect([
    saysUnsent(text),
    saysUnsent('nonce too low'),
    saysUnsent('timed out'),
    saysUnsent(undefined),
  ]).toEqual([true, true, false, false]);
});

it('each reason is one sentence', () => {
  for (const reason of ['settled_elsewhere', 'no_reply', 'invalid_scheme'])
    expect(sentenceOf(reason)).toMatch(/^[A-Z].*\.$/);
  expect(sentenceOf('invalid_scheme')).toContain('"invalid_scheme"');
});

it('reads a code from the words of a library', () => {
  expect(codeOfText('ERC20: transfer amount exceeds balance')).toBe('insufficient_funds');
  expect([codeOfText(undefined), codeOfText('nothing known')]).toEqual([undefined, undefined]);
});
