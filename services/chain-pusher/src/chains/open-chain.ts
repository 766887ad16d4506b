import type { ChainConfig, ChainFamily } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { SigningChain } from '../config.js';
import type { ChainPort, Patience } from './chain-port.js';

/** `patience`: the adapter's own unless given. */
export type OpenChain = (chain: SigningChain, patience?: Patience) => Promise<ChainPort>;

type Open<Family extends ChainFamily> = (
  chain: Extract<ChainConfig, { family: Family }>,
  signerKey: string,
  patience?: Patience,
) => Promise<ChainPort>;

/** The adapters by family; their libraries are loaded only where a chain needs them. */
const OPENERS = {
  evm: async (chain, signerKey, patience) => {
    const { createEvmChain } = await import('./evm/evm-chain.js');
    return createEvmChain(chain, signerKey, patience);
  },
  solana: async (chain, signerKey, patience) => {
    const { createSolanaChain } = await import('./solana/solana-chain.js');
    return createSolanaChain(chain, signerKey, patience).catch((): never => {
      // Without the error's text, which may hold the key.
      throw new StartupError(`The key of ${chain.name} is no keypair: correct ${chain.signerKeyEnv}.`);
    });
  },
} satisfies { [Family in ChainFamily]: Open<Family> };

/** The adapter of a chain's family. @throws StartupError */
export const openChain: OpenChain = ({ chain, signerKey }, patience) => {
  // Which opener takes which configuration is checked above.
  const open = OPENERS[chain.family] as Open<ChainFamily>;
  return open(chain, signerKey, patience);
};
