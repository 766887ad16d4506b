import type { Batch } from '../pushes/batch.js';
import type { RecordedPushes } from '../pushes/compare-ranges.js';

/** No RPC server answered, or it is one of another chain; `cause` is the last one's failure. Names no address: it may hold an API key. */
export class ServersAway extends Error {
  override readonly name = 'ServersAway';
}

/** An RPC server has not reached the block of which another one told: nothing is concluded from its answers. */
export class ServerLags extends Error {
  override readonly name = 'ServerLags';

  constructor() {
    super('an RPC server lags behind');
  }
}

/** The chain holds fewer pushes of the deployment than it is asked after, and would refuse the next one. */
export class ChainBehind extends Error {
  override readonly name = 'ChainBehind';

  /** @param last the number of the last push that the chain holds */
  constructor(readonly last: number) {
    super('the chain holds fewer pushes than were on it');
  }
}

/** The signer's account cannot pay for a transaction at present. */
export class SignerCannotPay extends Error {
  override readonly name = 'SignerCannotPay';
}

/** A transaction as it is stored before it is sent. */
export interface SignedTransaction {
  /** Its hash or signature, known before it is sent. */
  readonly id: string;
  readonly raw: string;
  /** The adapter's own: what a replacement has to outbid, or until when it may be included. */
  readonly terms: Readonly<Record<string, string>>;
}

/**
 * `sent`: the node has it, now or from before. `spent`: its nonce is used up, by itself or by another transaction.
 * `underpriced`: a higher fee is needed. `refused`: it can never be included as it is. `unclear`: the node did not take it,
 * in words that the adapter does not know. `unaffordable`: the signer's account cannot pay for it at present.
 */
export type SendOutcome =
  | { readonly kind: 'sent' | 'spent' | 'underpriced' | 'unaffordable' }
  /** `untaken`: the nodes have an error of their own, and have taken no other transaction since they last said so. */
  | { readonly kind: 'untaken'; readonly reason: string }
  | { readonly kind: 'refused' | 'unclear'; readonly reason: string };

/** Where a transaction is on the chain. */
export interface Inclusion {
  readonly id: string;
  readonly block: number;
  /** Another one, if the chain has replaced the block. */
  readonly blockId: string;
  /** Why it had no effect, or null. */
  readonly failure: string | null;
  readonly depth: 'included' | 'confirmed' | 'final';
}

/** The chain as a whole, at one time. */
export interface ChainView {
  /** How many transactions of the signer the chain has included, where it counts them. */
  readonly nonce: number | null;
  /** New transactions would cost more than the operator allows. */
  readonly isTooExpensive: boolean;
  /** The adapter's own: heights, fees. */
  readonly terms: Readonly<Record<string, string>>;
}

/** `reason` is fit to be shown to the operator. */
export interface ChainCheck {
  /** Null when pushes can be sent. */
  readonly reason: string | null;
  /** Of the signer's account, in the chain's own unit; null where it could not be read. */
  readonly balance: number | null;
}

/** How a transaction is signed. */
export interface SigningTerms {
  readonly nonce: number | null;
  readonly view: ChainView;
  /** The submission's earlier transactions, oldest first; the new one outbids them. */
  readonly replaced: readonly SignedTransaction[];
  /** Multiplies the limit of what it may consume; above 1 after a failure. */
  readonly gasFactor: number;
}

/** Milliseconds. */
export interface Delays {
  /** After this long without a sign of it a transaction is sent again. */
  readonly resendMs: number;
  /** After this long it is replaced, where it holds up others. */
  readonly replaceMs: number;
  /** The first pause after a push was refused; it doubles. A chain that cannot be used is checked three times as slowly. */
  readonly retryMs: number;
}

/**
 * One chain, as the sender uses it. Only `send` has an effect, and it may be repeated. A call rejects with `ServersAway` when
 * no RPC server can be used, which concerns the whole chain, with `ServerLags` when it can be asked again; any other failure is of what was asked for alone. One behaviour
 * suite runs over all adapters.
 */
export interface ChainPort {
  /** The address of the signer's account. */
  readonly signer: string;
  readonly delays: Delays;
  /** A push that reaches the chain twice has its effect once, so one in doubt may be dropped. */
  readonly takesRepetitions: boolean;
  check(signal: AbortSignal): Promise<ChainCheck>;
  view(signal: AbortSignal): Promise<ChainView>;
  /** How many transactions of another signer the chain has included, where it counts them. */
  countOf(signer: string, signal: AbortSignal): Promise<number | null>;
  /** The deployment's pushes after a number that the chain holds, in order; the first 500. @throws ChainBehind */
  recorded(deployment: string, after: number, signal: AbortSignal): Promise<readonly RecordedPushes[]>;
  /** The number of the deployment's last push that the chain holds, 0 for none. As `recorded`, by a server that has reached the newest view. */
  lastNumber(deployment: string, signal: AbortSignal): Promise<number>;
  /** Null: it would cost more than the operator allows. @throws SignerCannotPay */
  sign(batch: Batch, terms: SigningTerms, signal: AbortSignal): Promise<SignedTransaction | null>;
  /** Why the chain would refuse the batch at present, or null. */
  simulate(batch: Batch, signal: AbortSignal): Promise<string | null>;
  send(transaction: SignedTransaction, signal: AbortSignal): Promise<SendOutcome>;
  /** Those of the transactions that the chain has. `view` is an earlier one. */
  find(
    transactions: readonly SignedTransaction[],
    view: ChainView,
    signal: AbortSignal,
  ): Promise<readonly Inclusion[]>;
  /** Whether a transaction that `find` did not find after this view can never be included any more. */
  isOver(transaction: SignedTransaction, nonce: number | null, view: ChainView): boolean;
}
