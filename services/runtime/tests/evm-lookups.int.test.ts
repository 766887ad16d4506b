import { createLogger } from '@orrery/service-kit';
import { type EvmPayments, startEvmPayments } from '@orrery/testing/payments';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { evmReader } from '../src/core/payments/evm-authorization.js';
import type { Payment } from '../src/core/payments/payment.js';
import { requirementOf, requirementV2 } from '../src/core/payments/requirements.js';
import { createEvmChain } from '../src/runs/payments/evm-chain.js';
import { createHttpFacilitator } from '../src/runs/payments/http-facilitator.js';

let evm: EvmPayments;
beforeAll(async () => {
  evm = await startEvmPayments();
});
afterAll(() => evm[Symbol.asyncDispose]());

const RECEIVER = '0x2222222222222222222222222222222222222222';
const VALID_S = 3000;
const logger = createLogger({ service: 'test', level: 'silent' });

/** A payment that is valid for 50 minutes, as none is accepted, and how its chain is asked about it. */
async function plantPayment() {
  const names = { network: 'base-sepolia', caip2: 'eip155:84532', family: 'evm', decimals: 6 } as const;
  const token = { ...names, asset: evm.token, name: 'USDC', version: '2', rpcUrls: [evm.rpcUrl] };
  const price = { priceUsd: 0.01, payTo: RECEIVER, maxTimeoutSeconds: VALID_S };
  const requirement = requirementOf(token, price, { name: token.name, version: token.version });
  const payer = privateKeyToAccount(generatePrivateKey());
  await evm.fund(payer.address, 20_000n);
  const made = await new ExactEvmScheme(payer).createPaymentPayload(2, requirementV2(requirement) as never);
  const read = evmReader(made.payload as never, requirement, Date.now() + 2500_000);
  if ('mismatch' in read) throw new Error(read.mismatch);
  const resource = { url: 'http://localhost', description: '' };
  const payment: Payment = { ...read, x402Version: 2, requirement, resource };
  const chain = createEvmChain(token, logger, 120_000);
  const { signal } = new AbortController();
  return { payment, look: (since: number) => chain.look(payment, { since, named: [], signal }) };
}

const mine = (blocks: number, interval: number) =>
  evm.chain.request({ method: 'anvil_mine', params: [`0x${blocks.toString(16)}`, interval] } as never);

it('an authorization that was used long before its settlement began is told of once it is over', async () => {
  const { payment, look } = await plantPayment();
  const settled = await createHttpFacilitator(evm.facilitator.url, logger).settle(payment, 120_000);
  if (settled.kind !== 'settled') throw new Error(settled.kind);
  const usedAt = Date.now();
  const charged = { kind: 'charged', transaction: settled.transaction, at: expect.any(Number) };
  expect(await look(usedAt)).toEqual(charged);
  // One search covers 1,000 blocks, so it does not find the use in passing.
  await mine(1050, 2);
  await expect(look(usedAt + 2000_000)).rejects.toThrow('the use of an authorization is not found');
  await evm.advance(1700);
  expect(await look(usedAt + 2500_000)).toMatchObject({
    kind: 'void',
    reason: 'used_earlier',
  });
  expect(await look(usedAt)).toEqual(charged);
});
