import { expect, it } from 'vitest';
import type { PaymentAsset } from './payment.js';
import { readOffer } from './read-offer.js';
import { demandOf, inItsVersion, requirementOf, requirementV2 } from './requirements.js';

const asset = (network: string, caip2: string, address: string): PaymentAsset => ({
  network,
  caip2,
  family: 'evm',
  asset: address,
  decimals: 6,
  name: 'USDC',
  version: '2',
  rpcUrls: [],
});
const [first, second, third] = [1, 2, 3].map((n) => `0x${String(n).repeat(40)}`) as [string, string, string];
const price = { priceUsd: 0.01, payTo: first, maxTimeoutSeconds: 120 };
const requirements = [
  asset('base-sepolia', 'eip155:84532', first),
  asset('base-sepolia', 'eip155:84532', second),
  asset('base', 'eip155:8453', third),
].map((one) => requirementOf(one, price, {}));
const resource = { url: 'https://orrery.example', description: '' };

it('version 1, whose payments name no asset, is asked for the one asset of each network that they are in', () => {
  const { accepts, paymentRequired } = demandOf(requirements, resource, 'Pay.');
  expect(accepts.map(({ network, asset: asked }) => [network, asked])).toEqual([
    ['base-sepolia', first],
    ['base', third],
  ]);
  expect(paymentRequired['accepts']).toMatchObject([first, second, third].map((one) => ({ asset: one })));
  const payload = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload: {} };
  const readerOf = () => () => ({ key: 'k', payer: 'p', payload: {}, validUntil: 0 });
  const read = readOffer({ version: 1, payload }, requirements, resource, { now: 0, readerOf });
  expect(read).toMatchObject({ payment: { requirement: { asset: accepts[0]?.['asset'] } } });
});

it('names a network in the form of the version that a payment is of', () => {
  const [requirement] = requirements;
  if (requirement === undefined) throw new Error('no requirement');
  const payment = { key: 'k', requirement, resource, payload: { signed: true }, payer: 'p', validUntil: 0 };
  const { paymentPayload, paymentRequirements } = inItsVersion({ ...payment, x402Version: 1 });
  expect([paymentPayload, paymentRequirements]).toMatchObject([
    { network: 'base-sepolia' },
    { maxAmountRequired: '10000' },
  ]);
  const second = inItsVersion({ ...payment, x402Version: 2 });
  expect(second.paymentRequirements).toEqual(requirementV2(requirement));
  expect(second.paymentRequirements.network).toBe('eip155:84532');
});
