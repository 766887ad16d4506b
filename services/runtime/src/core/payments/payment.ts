import type { JsonObject } from '@orrery/contracts';
import type { PaymentReason } from './payment-reasons.js';

/** An asset in which the operator lets executions be paid, on one network. */
export interface PaymentAsset {
  /** The network's name in version 1 of x402. */
  readonly network: string;
  /** The same by CAIP-2, as version 2 names it. */
  readonly caip2: string;
  readonly family: PaymentFamily;
  /** The address of the token. */
  readonly asset: string;
  readonly decimals: number;
  /** The token's name and version in its EIP-712 domain. */
  readonly name: string;
  readonly version: string;
  /** Where the chain is asked for the outcome of a payment; empty: the facilitator's word counts. */
  readonly rpcUrls: readonly string[];
}

export type PaymentFamily = 'evm' | 'solana';

/** One way to pay for one execution: what was asked for is what is verified and settled. */
export interface Requirement
  extends Pick<PaymentAsset, 'network' | 'caip2' | 'family' | 'asset' | 'decimals'> {
  /** In the smallest unit of the asset, as decimal digits. */
  readonly amount: string;
  readonly payTo: string;
  /** Seconds for which a payment is valid. */
  readonly maxTimeoutSeconds: number;
  readonly extra: JsonObject;
  /** On Solana: the accounts of the receiver for the token. */
  readonly receivingAccounts?: readonly string[];
}

/** What a payment is for, as x402 names it. */
export interface Resource {
  /** The address of the call. */
  readonly url: string;
  readonly description: string;
  /** The world's name and tags, as far as x402 takes them. */
  readonly serviceName?: string;
  readonly tags?: readonly string[];
  /** The extensions of x402 that are offered with it, by their names. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
}

/** A payment that fulfils one of our requirements, as far as it can be told without its chain. */
export interface Payment {
  /** Names the payment service-wide and for ever: a second one with this key cannot be settled beside it. */
  readonly key: string;
  readonly x402Version: 1 | 2;
  readonly requirement: Requirement;
  readonly resource: Resource;
  /** The member `payload` of what was offered: a signature, or a signed transaction. */
  readonly payload: JsonObject;
  readonly payer: string;
  /** What the payer calls the execution that it pays for: another payment with it is a repetition. */
  readonly identifier?: string;
  /** Of the extensions that came with it, those that were offered; they go on to the facilitator. */
  readonly extensions?: JsonObject;
  /** Milliseconds since the epoch from which on it cannot be settled any more, as far as it can be told. */
  readonly validUntil: number;
}

/**
 * Reads the signed part of a payment of one family against a requirement, or says why it does not fulfil it.
 * @param now milliseconds since the epoch @throws `invalid_payment` for what is no payment of the family
 */
export type OfferReader = (
  payload: JsonObject,
  requirement: Requirement,
  now: number,
) => Pick<Payment, 'key' | 'payer' | 'payload' | 'validUntil'> | { readonly mismatch: string };

/**
 * What a chain says of a payment: it was charged, which paid our receiver the amount required; it was not, but may still
 * be; it was not and cannot be any more; or there is no node that could be asked.
 */
export type Charge =
  | {
      readonly kind: 'charged';
      readonly transaction: string;
      /** When, by the chain's clock, in milliseconds since the epoch; absent for a transaction that was named. */
      readonly at?: number;
    }
  /** `failed`: those of the transactions named that are on the chain and did not charge it. */
  | { readonly kind: 'open'; readonly failed: readonly string[] }
  | { readonly kind: 'void'; readonly reason: PaymentReason }
  | { readonly kind: 'unseen' };

/** One chain, as far as payments are concerned. */
export interface Chain {
  /** Looks a payment up. @throws when the chain cannot be asked, or the signal's reason */
  look(payment: Payment, search: ChargeSearch): Promise<Charge>;
}

export interface ChargeSearch {
  /** Milliseconds since the epoch before which it was not charged. */
  readonly since: number;
  /** Transactions that the facilitator has named: one of them may have charged it. */
  readonly named: readonly string[];
  /** Aborts when nobody waits for the outcome any more. */
  readonly signal: AbortSignal;
}

/**
 * What the facilitator answers to a settlement. `refused`: this call has sent nothing to the chain. `unclear`: it answered,
 * and may have charged the payment or may still do so. `silent`: it did not answer.
 */
export type SettlementReply =
  | { readonly kind: 'settled'; readonly transaction: string | undefined }
  | { readonly kind: 'refused'; readonly reason: PaymentReason }
  | {
      readonly kind: 'unclear';
      readonly reason: PaymentReason;
      readonly transaction?: string | undefined;
      /** This call has sent nothing, and another one may succeed. */
      readonly isUnsent?: boolean;
    }
  | { readonly kind: 'silent'; readonly reason: PaymentReason };

/** What our calls to settle one payment may have put on its chain (the column `payments.calls`). */
export interface SettleCalls {
  /** Transactions that replies have named. */
  readonly named: readonly string[];
  /** A call was not answered, or its answer neither named a transaction nor said that none was sent. */
  readonly unaccounted: boolean;
}

/** The facilitator of x402: it verifies payments and puts them on their chains. */
export interface Facilitator {
  /** Undefined where the payment is good, else the reason. @throws when the facilitator cannot be asked */
  verify(payment: Payment): Promise<PaymentReason | undefined>;
  /** Never rejects. @param timeoutMs after which the reply is unclear */
  settle(payment: Payment, timeoutMs: number): Promise<SettlementReply>;
  /** The account that pays the fees of transactions on a network. @throws when the facilitator cannot be asked */
  feePayer(asset: Pick<PaymentAsset, 'network' | 'caip2'>): Promise<string>;
}
