import type { SolanaChainConfig } from '@orrery/contracts';
import type { KeyPairSigner } from '@solana/kit';
import {
  type ChainCheck,
  type ChainPort,
  type ChainView,
  type Delays,
  type Inclusion,
  type SendOutcome,
  ServersAway,
  type SignedTransaction,
  SignerCannotPay,
  type SigningTerms,
} from '../../core/chains/chain-port.js';
import type { Batch } from '../../core/pushes/batch.js';
import type { RecordedPushes } from '../../core/pushes/compare-ranges.js';
import { call, countFrom, JsonRpc, RpcFailure } from '../rpc/json-rpc.js';
import { memoOf } from './memo.js';
import type { MentionedIn } from './memo-claims.js';
import { createMemoIndex, type MemoIndex } from './memo-index.js';
import { type Lifetime, memoSignedBy, signerOf, signMemo } from './solana-transaction.js';

/** A transaction is never replaced: its bytes are sent again until its blockhash is too old. */
const DELAYS: Delays = { resendMs: 4000, replaceMs: Number.POSITIVE_INFINITY, retryMs: 1000 };
/** Lamports of one signature. */
const FEE = 5000;
/** Compute units that a memo of the largest size may take, for its simulation. */
const MOST_UNITS = 400_000;
const LAMPORTS = 1e9;
/** What a simulation says of a signer that lacks the fee, or would fall below what an account has to keep. */
const CANNOT_PAY = /InsufficientFundsFor|AccountNotFound/;
/** Signatures that servers take in one question. */
const STATUSES = 256;
/** Ranges that are read at once. */
const MOST_RECORDED = 500;

interface Status {
  readonly slot: number;
  readonly err: unknown;
  readonly confirmationStatus: 'processed' | 'confirmed' | 'finalized' | null;
}

/** As `getTransaction` tells, in base64. */
interface StoredTransaction {
  readonly meta: { readonly err: unknown } | null;
  readonly transaction: readonly [string, string];
}

/** @throws Error when the key is no keypair */
export const openSolanaChain = async (config: SolanaChainConfig, signerKey: string, delays?: Delays) =>
  new SolanaChain(config, await signerOf(signerKey), delays);

/** A Solana chain: each batch is one memo (docs/on-chain.md). */
class SolanaChain implements ChainPort {
  readonly signer: string;
  readonly takesRepetitions = false;
  readonly #rpc: JsonRpc;
  readonly #memos: MemoIndex;
  /** Of the newest view. */
  #slot = 0;

  constructor(
    private readonly config: SolanaChainConfig,
    private readonly keys: KeyPairSigner,
    readonly delays: Delays = DELAYS,
  ) {
    this.signer = keys.address;
    this.#rpc = new JsonRpc(config.rpcUrls);
    this.#memos = createMemoIndex({
      list: (range, signal) => {
        // A server that lags would leave out what is newer, and says so in place of that.
        const options = { ...range, limit: 1000, commitment: 'confirmed', minContextSlot: this.#slot };
        return this.#rpc.ask<MentionedIn[]>(signal, 'getSignaturesForAddress', this.signer, options);
      },
      signedMemos: (signatures, signal) => this.#signedMemos(signatures, signal),
    });
  }

  async check(signal: AbortSignal): Promise<ChainCheck> {
    const { program, caip2 } = this.config;
    const genesis = await this.#rpc.ask<string>(signal, 'getGenesisHash');
    const { value } = await this.#rpc.ask<{ value: number }>(signal, 'getBalance', this.signer);
    const balance = Number(value);
    const found = (reason: string | null): ChainCheck => ({ reason, balance: balance / LAMPORTS });
    const id = `solana:${genesis.slice(0, 32)}`;
    if (id !== caip2) throw new ServersAway(`the RPC server is of the chain ${id}`);
    type Account = { value: { executable: boolean } | null };
    const encoding = { encoding: 'base64' };
    const { value: memo } = await this.#rpc.ask<Account>(signal, 'getAccountInfo', program, encoding);
    if (memo?.executable !== true) return found(`there is no memo program at ${program}`);
    // An account without data that has less is not let pay.
    const least = countFrom(await this.#rpc.ask(signal, 'getMinimumBalanceForRentExemption', 0));
    return found(balance < least + FEE ? `the balance of ${this.signer} is too low` : null);
  }

  async view(signal: AbortSignal): Promise<ChainView> {
    // Final: what is not found below this height is in no fork either.
    const height = countFrom(await this.#rpc.ask(signal, 'getBlockHeight', { commitment: 'finalized' }));
    type Latest = { context: { slot: number }; value: Lifetime };
    const latest = { commitment: 'confirmed' };
    const { context, value } = await this.#rpc.ask<Latest>(signal, 'getLatestBlockhash', latest);
    this.#slot = countFrom(context.slot);
    const terms = {
      height: String(height),
      slot: String(this.#slot),
      blockhash: value.blockhash,
      lastValid: String(countFrom(value.lastValidBlockHeight)),
    };
    return { nonce: null, isTooExpensive: false, terms };
  }

  async countOf(): Promise<null> {
    return null;
  }

  async recorded(deployment: string, after: number, signal: AbortSignal): Promise<readonly RecordedPushes[]> {
    return withoutRepetitions(await this.#memos.of(deployment, after, signal)).slice(0, MOST_RECORDED);
  }

  async lastNumber(deployment: string, signal: AbortSignal): Promise<number> {
    return (await this.#memos.of(deployment, 0, signal)).reduce((last, { to }) => Math.max(last, to), 0);
  }

  async sign(
    batch: Batch,
    { view, replaced, gasFactor }: SigningTerms,
    signal: AbortSignal,
  ): Promise<SignedTransaction | null> {
    // Both could be included.
    if (replaced.length > 0) return null;
    const memo = memoOf(batch);
    const lifetime = lifetimeOf(view);
    const { err, unitsConsumed = MOST_UNITS } = await this.#simulated(memo, lifetime, signal);
    if (CANNOT_PAY.test(JSON.stringify(err ?? null))) throw new SignerCannotPay();
    const units = Math.min(MOST_UNITS, Math.ceil(unitsConsumed * 1.2 * gasFactor) + 1000);
    const { raw, signature } = await this.#signed(memo, units, lifetime);
    return { id: signature, raw, terms: { lastValid: String(lifetime.lastValidBlockHeight) } };
  }

  async simulate(batch: Batch, signal: AbortSignal): Promise<string | null> {
    const { err } = await this.#simulated(memoOf(batch), lifetimeOf(await this.view(signal)), signal);
    return err === null ? null : JSON.stringify(err);
  }

  async send({ raw }: SignedTransaction, signal: AbortSignal): Promise<SendOutcome> {
    const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
    const [answer] = await this.#rpc.answersOfAny([call('sendTransaction', raw, options)], signal);
    return answer instanceof RpcFailure ? outcomeOf(answer) : { kind: 'sent' };
  }

  async find(
    transactions: readonly SignedTransaction[],
    view: ChainView,
    signal: AbortSignal,
  ): Promise<readonly Inclusion[]> {
    const found: Inclusion[] = [];
    for (let from = 0; from < transactions.length; from += STATUSES)
      found.push(...(await this.#inclusionsOf(transactions.slice(from, from + STATUSES), view, signal)));
    return found;
  }

  isOver({ terms }: SignedTransaction, _nonce: number | null, view: ChainView): boolean {
    return Number(view.terms['height']) > Number(terms['lastValid']);
  }

  #signed(memo: string, units: number, lifetime: Lifetime) {
    return signMemo(this.keys, { program: this.config.program, memo, units }, lifetime);
  }

  async #simulated(memo: string, lifetime: Lifetime, signal: AbortSignal) {
    const { raw } = await this.#signed(memo, MOST_UNITS, lifetime);
    const options = { encoding: 'base64', commitment: 'confirmed' };
    type Simulated = { value: { err: unknown; unitsConsumed?: number } };
    return (await this.#rpc.ask<Simulated>(signal, 'simulateTransaction', raw, options)).value;
  }

  async #inclusionsOf(
    transactions: readonly SignedTransaction[],
    view: ChainView,
    signal: AbortSignal,
  ): Promise<Inclusion[]> {
    const ids = transactions.map(({ id }) => id);
    const options = { searchTransactionHistory: true };
    type Statuses = { context: { slot: number }; value: (Status | null)[] };
    const { context, value } = await this.#rpc.ask<Statuses>(signal, 'getSignatureStatuses', ids, options);
    // A server that is behind may not know of them yet.
    if (countFrom(context.slot) < Number(view.terms['slot']))
      throw new ServersAway('an RPC server lags behind');
    return transactions.flatMap((transaction, at) => this.#inclusionOf(transaction, value[at] ?? null, view));
  }

  /**
   * A block that was only processed has no votes yet, and a fork may take it away alone: its transaction is sent again, which is
   * harmless. @throws Error of one that would be given up in place of that
   */
  #inclusionOf(transaction: SignedTransaction, status: Status | null, view: ChainView): Inclusion[] {
    if (status === null) return [];
    const { slot, err, confirmationStatus } = status;
    if (confirmationStatus === 'confirmed' || confirmationStatus === 'finalized') {
      const depth = confirmationStatus === 'finalized' ? 'final' : 'confirmed';
      const failure = err === null ? null : JSON.stringify(err);
      return [{ id: transaction.id, block: countFrom(slot), blockId: String(slot), failure, depth }];
    }
    if (transaction.raw !== '' && !this.isOver(transaction, null, view)) return [];
    throw new Error('a block without votes holds a transaction that is not sent again');
  }

  async #signedMemos(signatures: readonly string[], signal: AbortSignal) {
    const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
    const calls = signatures.map((id) => call('getTransaction', id, options));
    const stored = (await this.#rpc.results(calls, signal)) as (StoredTransaction | null)[];
    return Promise.all(stored.map((one, at) => this.#memoIn(one, signatures[at] ?? '')));
  }

  async #memoIn(stored: StoredTransaction | null, signature: string): Promise<string | undefined> {
    if (stored === null) throw new Error('an RPC server does not give a transaction that it told of');
    const { meta, transaction } = stored;
    if (meta === null || meta.err !== null) return undefined;
    return memoSignedBy(this.keys, { program: this.config.program, signature, wire: transaction[0] });
  }
}

/** Those that bring a number further than all before them. */
function withoutRepetitions(recorded: readonly RecordedPushes[]): RecordedPushes[] {
  let last = 0;
  return recorded.filter(({ to }) => {
    const isNew = to > last;
    last = Math.max(last, to);
    return isNew;
  });
}

const lifetimeOf = ({ terms }: ChainView): Lifetime => ({
  blockhash: terms['blockhash'] ?? '',
  lastValidBlockHeight: Number(terms['lastValid']),
});

/** What servers say about a transaction that they do not take. @throws ServersAway where they take nothing at present */
function outcomeOf(answer: RpcFailure): SendOutcome {
  if (answer.isBusy) throw new ServersAway('the RPC server takes no transactions at present');
  if (/already (been )?processed/i.test(answer.message)) return { kind: 'sent' };
  // It may be included already, so it is only over once its blockhash is.
  if (/blockhash not found|block ?height exceeded/i.test(answer.message)) return { kind: 'spent' };
  if (/insufficient|no record of a prior credit/i.test(answer.message)) return { kind: 'unaffordable' };
  if (/too large|sanitize|deserialize|signature verification/i.test(answer.message))
    return { kind: 'refused', reason: answer.message };
  return { kind: 'unclear', reason: answer.message };
}
