import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1';
import { V1_TO_V2_NETWORK_MAP } from '@x402/svm';
import { expect, it } from 'vitest';
import { EVM_CHAIN_IDS, networkOf, SOLANA_NETWORKS } from './payment-config.js';

it('names the networks as the x402 library does', () => {
  expect(EVM_CHAIN_IDS).toEqual(EVM_NETWORK_CHAIN_ID_MAP);
  expect(SOLANA_NETWORKS).toEqual(V1_TO_V2_NETWORK_MAP);
  expect(networkOf('base-sepolia')).toEqual({ caip2: 'eip155:84532', family: 'evm' });
  expect(networkOf('constructor')).toBeUndefined();
});
