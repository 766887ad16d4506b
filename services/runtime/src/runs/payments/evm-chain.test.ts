import { inspect } from 'node:util';
import { createLogger } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import { readAuthorization } from '../../core/payments/evm-authorization.js';
import type { Payment } from '../../core/payments/payment.js';
import { createEvmChain } from './evm-chain.js';

const address = `0x${'11'.repeat(20)}`;
const payload = {
  signature: `0x${'22'.repeat(65)}`,
  authorization: {
    from: address,
    to: address,
    value: '50000',
    validAfter: '0',
    validBefore: '2000000000',
    nonce: `0x${'33'.repeat(32)}`,
  },
};

describe('a node that cannot be reached', () => {
  it('is named in no error, because its address may hold a key', async () => {
    const rpcUrls = ['http://127.0.0.1:1/v2/secret-key'];
    const logger = createLogger({ service: 'test', level: 'silent' });
    const chain = createEvmChain({ network: 'base', caip2: 'eip155:8453', rpcUrls }, logger);
    const payment = { payload, requirement: { asset: address } } as unknown as Payment;
    const search = { since: 0, named: [], signal: new AbortController().signal };
    const error = await chain.look(payment, search).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('secret-key');
  });
});

describe('an authorization', () => {
  it.each([
    ['a number above 256 bits', { authorization: { ...payload.authorization, validBefore: '9'.repeat(78) } }],
    ['a signature of half a byte', { signature: '0x222' }],
  ])('is refused with %s', (_what, changed) => {
    expect(() => readAuthorization({ ...payload, ...changed })).toThrow('no signed EIP-3009 authorization');
  });
});
