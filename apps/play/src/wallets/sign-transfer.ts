import type { PaymentRequirement } from '@orrery/sdk';
import { getTransactionDecoder, getTransactionEncoder, type Transaction } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { orrery } from '../world/read-world.js';
import type { TransactionSigner } from './standard-wallets.js';

/** Names of networks in the Wallet Standard. */
const CHAINS: Readonly<Record<string, string>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana:mainnet',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana:devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': 'solana:testnet',
};

/**
 * The payload of a payment on Solana (x402, scheme `exact`). The library asks a node for the blockhash and the token, which
 * this page may not: the server has asked its own.
 * @throws OrreryError, the wallet's error
 */
export async function signTransfer(
  accepted: PaymentRequirement,
  { address, sign }: TransactionSigner,
): Promise<object> {
  const { network, asset, extra } = accepted as PaymentRequirement & { extra: object };
  const { blockhash, lastValidBlockHeight, tokenProgram, decimals } = await orrery.get(
    '/app/payments/solana',
    { query: { network, asset } },
  );
  const signOne = async (transaction: Transaction) => {
    const wire = getTransactionEncoder().encode(transaction);
    // A wallet may add to the transaction: what it has signed counts.
    const signed = getTransactionDecoder().decode(await sign(wire as Uint8Array, CHAINS[network] ?? network));
    return { ...transaction, ...signed };
  };
  const signer = {
    address,
    modifyAndSignTransactions: (all: readonly Transaction[]) => Promise.all(all.map(signOne)),
  };
  const scheme = new ExactSvmScheme(signer as never);
  const { mintCache } = scheme as unknown as { mintCache: Map<string, Promise<object>> };
  mintCache.set(`${network}:${asset}`, Promise.resolve({ decimals, programAddress: tokenProgram }));
  const terms = { ...accepted, extra: { ...extra, recentBlockhash: blockhash, lastValidBlockHeight } };
  return (await scheme.createPaymentPayload(2, terms as never)).payload;
}
