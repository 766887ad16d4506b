import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { Facilitator, OfferReader, PaymentAsset, Requirement } from '../../core/payments/payment.js';
import { type Price, requirementOf } from '../../core/payments/requirements.js';

/** What a requirement on Solana needs from elsewhere: who pays the fees, and the accounts of the receiver. */
interface SolanaTerms {
  /** Undefined until `prepare` has been called for the asset and the receiver. */
  requirement(asset: PaymentAsset, price: Price): Requirement | undefined;
  /** @throws when the facilitator cannot be asked */
  prepare(asset: PaymentAsset, payTo: string): Promise<void>;
  /** Of payments for a requirement that was prepared. */
  reader(): OfferReader;
}

/** A fee payer is asked for again after this long, and used for as long as no answer comes, in milliseconds. */
const FEE_PAYER_MS = { fresh: 10 * 60_000, usable: 24 * 60 * 60_000 };
const MAX_RECEIVERS = 10_000;
const VALID_S = 60;

interface FeePayer {
  readonly address: string;
  readonly askedAt: number;
}

/** The libraries of Solana are loaded with the first receiver on Solana. */
export function createSolanaTerms(
  facilitator: Pick<Facilitator, 'feePayer'>,
  clock: Pick<Clock, 'monotonic'>,
): SolanaTerms {
  const feePayers = new Map<string, FeePayer>();
  const accounts = new LRUCache<string, readonly string[]>({ max: MAX_RECEIVERS });
  let reader: OfferReader | undefined;
  const nameOf = ({ asset }: PaymentAsset, payTo: string) => `${asset} ${payTo}`;
  const usableFeePayer = ({ network }: PaymentAsset, ms: number): string | undefined => {
    const known = feePayers.get(network);
    return known !== undefined && clock.monotonic() - known.askedAt < ms ? known.address : undefined;
  };
  const askForFeePayer = async (asset: PaymentAsset) => {
    if (usableFeePayer(asset, FEE_PAYER_MS.fresh) !== undefined) return;
    try {
      const address = await facilitator.feePayer(asset);
      feePayers.set(asset.network, { address, askedAt: clock.monotonic() });
    } catch (error) {
      if (usableFeePayer(asset, FEE_PAYER_MS.usable) === undefined) throw error;
    }
  };
  return {
    requirement: (asset, price) => {
      const feePayer = usableFeePayer(asset, FEE_PAYER_MS.usable);
      const receivingAccounts = accounts.get(nameOf(asset, price.payTo));
      if (feePayer === undefined || receivingAccounts === undefined) return undefined;
      const terms = { ...price, maxTimeoutSeconds: Math.min(VALID_S, price.maxTimeoutSeconds) };
      return { ...requirementOf(asset, terms, { feePayer }), receivingAccounts };
    },
    prepare: async (asset, payTo) => {
      const { receivingAccountsOf, solanaReader } = await import('./solana-transaction.js');
      reader = solanaReader;
      await askForFeePayer(asset);
      const name = nameOf(asset, payTo);
      if (!accounts.has(name)) accounts.set(name, await receivingAccountsOf(payTo, asset.asset));
    },
    reader: () => {
      if (reader === undefined) throw new Error('a payment on Solana was read before it was prepared for');
      return reader;
    },
  };
}
