import type { ChainConfig } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { ChainPort, Delays } from '../core/chains/chain-port.js';

/** A chain of the file, and the key that signs its transactions. The key never leaves this process. */
export interface SigningChain {
  readonly chain: ChainConfig;
  readonly signerKey: string;
}

/** `delays`: the adapter's own unless given. */
export type OpenChain = (chain: SigningChain, delays?: Delays) => Promise<ChainPort>;

/** The adapter of a chain's family; its library is loaded only where a chain needs it. @throws StartupError */
export const openChain: OpenChain = async ({ chain, signerKey }, delays) => {
  switch (chain.family) {
    case 'evm': {
      const { EvmChain } = await import('./evm/evm-chain.js');
      return new EvmChain(chain, signerKey, delays);
    }
    case 'solana': {
      const { openSolanaChain } = await import('./solana/solana-chain.js');
      return openSolanaChain(chain, signerKey, delays).catch((): never => {
        // Without the error's text, which may hold the key.
        throw new StartupError(`The key of ${chain.name} is no keypair: correct ${chain.signerKeyEnv}.`);
      });
    }
    default:
      throw chain satisfies never;
  }
};
