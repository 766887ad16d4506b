import type { ChainConfig, ChainFamily } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { ChainPort, Delays } from '../core/chains/chain-port.js';

/** A chain of the file, and the key that signs its transactions. The key never leaves this process. */
export interface SigningChain {
  readonly chain: ChainConfig;
  readonly signerKey: string;
}

/** `delays`: the adapter's own unless given. */
export type OpenChain = (chain: SigningChain, delays?: Delays) => Promise<ChainPort>;

type Open<Family extends ChainFamily> = (
  chain: Extract<ChainConfig, { family: Family }>,
  signerKey: string,
  delays?: Delays,
) => Promise<ChainPort>;

/** The adapters by family; their libraries are loaded only where a chain needs them. */
const OPENERS = {
  evm: async (chain, signerKey, delays) => {
    const { createEvmChain } = await import('./evm/evm-chain.js');
    return createEvmChain(chain, signerKey, delays);
  },
  solana: async (chain, signerKey, delays) => {
    const { createSolanaChain } = await import('./solana/solana-chain.js');
    return createSolanaChain(chain, signerKey, delays).catch((): never => {
      // Without the error's text, which may hold the key.
      throw new StartupError(`The key of ${chain.name} is no keypair: correct ${chain.signerKeyEnv}.`);
    });
  },
} satisfies { [Family in ChainFamily]: Open<Family> };

/** The adapter of a chain's family. @throws StartupError */
export const openChain: OpenChain = ({ chain, signerKey }, delays) => {
  // Which opener takes which configuration is checked above.
  const open = OPENERS[chain.family] as Open<ChainFamily>;
  return open(chain, signerKey, delays);
};
