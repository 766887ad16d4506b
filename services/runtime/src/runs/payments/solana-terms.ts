import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import type { Facilitator, OfferReader, PaymentAsset, Requirement } from '../../core/payments/payment.js';
import { type Price, requirementOf } from '../../core/payments/requirements.js';

/** A fee payer is asked for again after this long, and used for as long as no answer comes, in milliseconds. */
const FEE_PAYER_MS = { fresh: 10 * 60_000, usable: 24 * 60 * 60_000 };
const MAX_RECEIVERS = 10_000;
const VALID_S = 60;

const nameOf = ({ asset }: PaymentAsset, payTo: string) => `${asset} ${payTo}`;

/**
 * What a requirement on Solana needs from elsewhere: who pays the fees, and the accounts of the receiver. The libraries of
 * Solana are loaded with the first receiver on Solana.
 */
export class SolanaTerms {
  /** By network. */
  readonly #feePayers = new Map<string, { readonly address: string; readonly askedAt: number }>();
  readonly #accounts = new LRUCache<string, readonly string[]>({ max: MAX_RECEIVERS });
  #reader: OfferReader | undefined;

  constructor(
    private readonly facilitator: Pick<Facilitator, 'feePayer'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  /** Of payments for a requirement that was prepared. */
  get reader(): OfferReader {
    if (this.#reader !== undefined) return this.#reader;
    throw new Error('a payment on Solana was read before it was prepared for');
  }

  /** Undefined until `prepare` has been called for the asset and the receiver. */
  requirement(asset: PaymentAsset, price: Price): Requirement | undefined {
    const feePayer = this.#feePayer(asset, FEE_PAYER_MS.usable);
    const receivingAccounts = this.#accounts.get(nameOf(asset, price.payTo));
    if (feePayer === undefined || receivingAccounts === undefined) return undefined;
    const terms = { ...price, maxTimeoutSeconds: Math.min(VALID_S, price.maxTimeoutSeconds) };
    return { ...requirementOf(asset, terms, { feePayer }), receivingAccounts };
  }

  /** @throws when the facilitator cannot be asked */
  async prepare(asset: PaymentAsset, payTo: string): Promise<void> {
    const { receivingAccountsOf, solanaReader } = await import('../../core/payments/solana-transaction.js');
    this.#reader = solanaReader;
    await this.#askForFeePayer(asset);
    const name = nameOf(asset, payTo);
    if (!this.#accounts.has(name)) this.#accounts.set(name, await receivingAccountsOf(payTo, asset.asset));
  }

  #feePayer({ network }: PaymentAsset, ms: number): string | undefined {
    const known = this.#feePayers.get(network);
    return known !== undefined && this.clock.monotonic() - known.askedAt < ms ? known.address : undefined;
  }

  async #askForFeePayer(asset: PaymentAsset): Promise<void> {
    if (this.#feePayer(asset, FEE_PAYER_MS.fresh) !== undefined) return;
    try {
      const address = await this.facilitator.feePayer(asset);
      this.#feePayers.set(asset.network, { address, askedAt: this.clock.monotonic() });
    } catch (error) {
      if (this.#feePayer(asset, FEE_PAYER_MS.usable) === undefined) throw error;
    }
  }
}
