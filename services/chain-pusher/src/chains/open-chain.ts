import { StartupError } from '@orrery/service-kit';
import type { SigningChain } from '../config.js';
import type { ChainPort } from './chain-port.js';

export type OpenChain = (chain: SigningChain) => Promise<ChainPort>;

/** The adapter of a chain's family; its libraries are loaded only where a chain needs them. @throws StartupError */
export const openChain: OpenChain = async ({ chain, signerKey }) => {
  if (chain.family === 'solana') {
    const { createSolanaChain } = await import('./solana/solana-chain.js');
    return createSolanaChain(chain, signerKey).catch((): never => {
      // Without the error's text, which may hold the key.
      throw new StartupError(`The key of ${chain.name} is no keypair: correct ${chain.signerKeyEnv}.`);
    });
  }
  const { createEvmChain } = await import('./evm/evm-chain.js');
  return createEvmChain(chain, signerKey);
};
