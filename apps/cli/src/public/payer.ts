import type { Payer, PaymentRequired } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import { readGivenFile } from '../documents/read-document.js';
import type { Wallet } from '../wallets/wallet-file.js';
import { offersOf, unaffordable } from './offers.js';

export interface PayerOptions {
  /** Pays on Solana, unless there is another key. */
  readonly wallet: Wallet;
  /** File with the private key (0x and 64 hex digits) that pays, on EVM chains. */
  readonly evmKeyFile: string | undefined;
  /** Address of a node of Solana; the public one of the network by default. */
  readonly solanaRpc: string | undefined;
  /** The most that one payment may cost, in US dollars. */
  readonly maxUsd: number;
}

/**
 * Pays what a 402 asks for, in the well-known dollar assets alone. What it does not pay is a StartupError that says what
 * would be needed. The x402 packages are loaded here, so that no other command waits for them.
 */
export async function createPayer(options: PayerOptions): Promise<Payer> {
  const { maxUsd, evmKeyFile } = options;
  const client = await x402ClientOf(options);
  const family = evmKeyFile === undefined ? 'solana' : 'evm';
  return {
    createPaymentPayload: async (required: never) => {
      const reason = unaffordable(await offersOf(required as PaymentRequired), { family, maxUsd });
      if (reason !== undefined) throw new StartupError(`The payment was not made. ${reason}`);
      return client.createPaymentPayload(required);
    },
  };
}

async function x402ClientOf({ wallet, evmKeyFile, solanaRpc, maxUsd }: PayerOptions) {
  const { x402Client } = await import('@x402/fetch');
  const client = new x402Client().setSpendControls({ maxAmountPerPayment: `$${maxUsd}` });
  if (evmKeyFile === undefined) {
    const { ExactSvmScheme } = await import('@x402/svm/exact/client');
    const { createKeyPairSignerFromBytes } = await import('@solana/kit');
    const signer = await createKeyPairSignerFromBytes(wallet.secretKey);
    client.register('solana:*', new ExactSvmScheme(signer, solanaRpc ? { rpcUrl: solanaRpc } : {}));
  } else {
    const { registerExactEvmScheme } = await import('@x402/evm/exact/client');
    const { privateKeyToAccount } = await import('viem/accounts');
    registerExactEvmScheme(client, { signer: privateKeyToAccount(await readEvmKey(evmKeyFile)) });
  }
  return client;
}

async function readEvmKey(path: string): Promise<`0x${string}`> {
  const key = (await readGivenFile(path, '--evm-key names a file with 0x and 64 hex digits.')).trim();
  if (/^0x[0-9a-fA-F]{64}$/.test(key)) return key as `0x${string}`;
  throw new StartupError(`${path} holds no private key: 0x and 64 hex digits are expected.`);
}
