import type { EvmChainConfig } from '@orrery/contracts';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import {
  ChainBehind,
  type ChainCheck,
  type ChainPort,
  type ChainView,
  type Delays,
  type Inclusion,
  type SendOutcome,
  ServerLags,
  ServersAway,
  type SignedTransaction,
  type SigningTerms,
} from '../../core/chains/chain-port.js';
import type { Batch } from '../../core/pushes/batch.js';
import type { RecordedPushes } from '../../core/pushes/compare-ranges.js';
import { BATCH, call, countFrom, JsonRpc, type RpcCall, RpcFailure } from '../rpc/json-rpc.js';
import { bidFor } from './fees.js';
import { LogSearch } from './log-search.js';
import {
  callData,
  digestCall,
  gasBound,
  isPusherCall,
  lastNumberCall,
  readDigest,
  readIsPusher,
  readNumber,
  revertReason,
} from './registry-calls.js';

/** Without a `finalized` block a chain is taken to be final at this depth. */
const FINAL_DEPTH = 64;
const DELAYS: Delays = { resendMs: 10_000, replaceMs: 30_000, retryMs: 1000 };
/** Gas of one push, for the check of the balance. */
const ONE_PUSH = 100_000n;
/** Pushes that are read at once. */
const MOST_RECORDED = 500;
/** What the registry says of a number that it does not have: no digest is zero. */
const NOT_RECORDED = '0'.repeat(64);

interface Receipt {
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly status: Hex;
}

/** An EVM chain and its registry contract (contracts/PushRegistry.sol). */
export class EvmChain implements ChainPort {
  readonly signer: string;
  readonly takesRepetitions = true;
  readonly #account;
  readonly #rpc: JsonRpc;
  readonly #logs: LogSearch;
  readonly #chainId: number;
  /** The highest fee per unit of gas, in wei. */
  readonly #cap: bigint;
  /** Of the newest view. */
  #head = 0;
  /** Whether the nodes have taken a transaction since they last answered one with an error of theirs. */
  #hasTaken = false;

  constructor(
    private readonly config: EvmChainConfig,
    signerKey: string,
    readonly delays: Delays = DELAYS,
  ) {
    this.#account = privateKeyToAccount(signerKey as Hex);
    this.signer = this.#account.address.toLowerCase();
    this.#rpc = new JsonRpc(config.rpcUrls);
    const { contract } = config;
    this.#logs = new LogSearch({ rpc: this.#rpc, contract, retryMs: delays.retryMs });
    this.#chainId = Number(config.caip2.slice('eip155:'.length));
    this.#cap = BigInt(Math.round(config.maxFeeGwei * 1e9));
  }

  async check(signal: AbortSignal): Promise<ChainCheck> {
    const { contract } = this.config;
    const asked = [
      call('eth_chainId'),
      call('eth_getBalance', this.signer, 'latest'),
      call('eth_gasPrice'),
      ...(contract === undefined ? [] : [call('eth_getCode', contract, 'latest')]),
    ];
    const [id, balance, price, code] = await this.#rpc.results(asked, signal);
    const held = BigInt(balance as Hex);
    const found = (reason: string | null): ChainCheck => ({ reason, balance: Number(held) / 1e18 });
    // What another chain holds says nothing of this one.
    if (Number(id) !== this.#chainId)
      throw new ServersAway(`the RPC server is of the chain eip155:${Number(id)}`);
    if (contract === undefined) return found('no registry contract is configured');
    if (code === '0x') return found(`there is no contract at ${contract}`);
    const [allowed] = await this.#rpc.answers([this.#toRegistry(isPusherCall(this.signer))], signal);
    if (allowed instanceof RpcFailure || allowed === '0x')
      return found(`there is no registry at ${contract}`);
    if (!readIsPusher(allowed as Hex)) return found(`the registry does not let ${this.signer} push`);
    if (held < ONE_PUSH * BigInt(price as Hex)) return found(`the balance of ${this.signer} is too low`);
    return found(null);
  }

  async view(signal: AbortSignal): Promise<ChainView> {
    const [nonce, latest, final, tip] = await this.#rpc.answers(
      [
        call('eth_getTransactionCount', this.signer, 'latest'),
        call('eth_getBlockByNumber', 'latest', false),
        call('eth_getBlockByNumber', 'finalized', false),
        call('eth_maxPriorityFeePerGas'),
      ],
      signal,
    );
    for (const answer of [nonce, latest]) if (answer instanceof RpcFailure) throw answer;
    const block = latest as { number: Hex; baseFeePerGas?: Hex };
    const head = countFrom(block.number);
    const hasFinal = !(final instanceof RpcFailure) && final !== null;
    const baseFee = BigInt(block.baseFeePerGas ?? '0x0');
    this.#head = head;
    return {
      nonce: countFrom(nonce),
      isTooExpensive: baseFee > this.#cap,
      terms: {
        head: String(head),
        final: String(hasFinal ? countFrom((final as { number: Hex }).number) : head - FINAL_DEPTH),
        baseFee: String(baseFee),
        tip: String(tip instanceof RpcFailure ? 1_000_000n : BigInt(tip as Hex)),
      },
    };
  }

  async countOf(signer: string, signal: AbortSignal): Promise<number> {
    return countFrom(await this.#rpc.ask(signal, 'eth_getTransactionCount', signer, 'latest'));
  }

  async recorded(deployment: string, after: number, signal: AbortSignal): Promise<readonly RecordedPushes[]> {
    const last = await this.lastNumber(deployment, signal);
    if (last < after) throw new ChainBehind(last);
    const length = Math.min(MOST_RECORDED, last - after);
    const numbers = Array.from({ length }, (_, at) => after + 1 + at);
    const transactions = await this.#logs.transactionsOf(deployment, numbers, this.#head, signal);
    const known = numbers.slice(0, transactions.length);
    const digests = await this.#digestsOf(deployment, known, signal);
    return known.map((number, at) => ({
      from: number,
      to: number,
      digest: digests[at] ?? '',
      transaction: transactions[at] ?? null,
    }));
  }

  async lastNumber(deployment: string, signal: AbortSignal): Promise<number> {
    const asked = [this.#toRegistry(lastNumberCall(deployment))];
    const { results, head } = await this.#resultsAndHead(asked, signal);
    if (head < this.#head) throw new ServerLags();
    return countFrom(readNumber(results[0] as Hex));
  }

  async sign(
    batch: Batch,
    { nonce, view, replaced, gasFactor }: SigningTerms,
  ): Promise<SignedTransaction | null> {
    if (nonce === null) throw new TypeError('an EVM transaction needs a nonce');
    const bid = bidFor(view.terms, replaced.at(-1)?.terms, this.#cap);
    if (bid === undefined) return null;
    const isEmpty = batch.pushes.length === 0;
    const data = isEmpty ? '0x' : callData(batch);
    const gas = isEmpty ? ONE_PUSH : BigInt(Math.ceil(Number(gasBound(data, batch)) * gasFactor));
    const raw = await this.#account.signTransaction({
      type: 'eip1559',
      chainId: this.#chainId,
      nonce,
      to: isEmpty ? this.#account.address : (this.config.contract as Hex),
      data,
      gas,
      maxFeePerGas: bid.maxFee,
      maxPriorityFeePerGas: bid.tip,
    });
    const terms = { maxFee: String(bid.maxFee), tip: String(bid.tip), gas: String(gas) };
    return { id: keccak256(raw), raw, terms };
  }

  async simulate(batch: Batch, signal: AbortSignal): Promise<string | null> {
    const [answer] = await this.#rpc.answers([this.#toRegistry(callData(batch))], signal);
    return answer instanceof RpcFailure ? (revertReason(answer.data) ?? answer.message) : null;
  }

  async send({ raw }: SignedTransaction, signal: AbortSignal): Promise<SendOutcome> {
    const [answer] = await this.#rpc.answersOfAny([call('eth_sendRawTransaction', raw)], signal);
    const outcome = answer instanceof RpcFailure ? outcomeOf(answer) : { kind: 'sent' as const };
    if (outcome.kind === 'sent') this.#hasTaken = true;
    if (outcome.kind !== 'unclear' || !(answer instanceof RpcFailure && answer.isPassing)) return outcome;
    const isOfThisOne = this.#hasTaken;
    this.#hasTaken = false;
    return isOfThisOne ? outcome : { ...outcome, kind: 'untaken' };
  }

  async find(
    transactions: readonly SignedTransaction[],
    view: ChainView,
    signal: AbortSignal,
  ): Promise<readonly Inclusion[]> {
    const asked = transactions.map(({ id }) => call('eth_getTransactionReceipt', id));
    const { results, head } = await this.#resultsAndHead(asked, signal);
    const receipts = results as (Receipt | null)[];
    // What a block holds that it has not reached it cannot know.
    if (receipts.includes(null) && head < Number(view.terms['head'])) throw new ServerLags();
    return receipts.filter((receipt) => receipt !== null).map((receipt) => this.#inclusionOf(receipt, view));
  }

  isOver(_transaction: SignedTransaction, nonce: number | null, view: ChainView): boolean {
    return nonce !== null && view.nonce !== null && view.nonce > nonce;
  }

  /** Results, and the lowest head that a server had when it gave them. */
  async #resultsAndHead(calls: readonly RpcCall[], signal: AbortSignal) {
    const results: unknown[] = [];
    let lowest = Number.POSITIVE_INFINITY;
    for (let from = 0; from < calls.length; from += BATCH - 1) {
      const some = calls.slice(from, from + BATCH - 1);
      const [head, ...answers] = await this.#rpc.results([call('eth_blockNumber'), ...some], signal);
      lowest = Math.min(lowest, countFrom(head));
      results.push(...answers);
    }
    return { results, head: lowest };
  }

  #toRegistry(data: Hex): RpcCall {
    return call('eth_call', { from: this.signer, to: this.config.contract, data }, 'latest');
  }

  #inclusionOf(
    { transactionHash, blockNumber, blockHash, status }: Receipt,
    { terms }: ChainView,
  ): Inclusion {
    const block = countFrom(blockNumber);
    const isConfirmed = Number(terms['head']) - block + 1 >= this.config.confirmations;
    const isFinal = block <= Number(terms['final']);
    return {
      id: transactionHash,
      block,
      blockId: blockHash,
      failure: status === '0x1' ? null : 'the registry reverted the transaction',
      depth: isFinal ? 'final' : isConfirmed ? 'confirmed' : 'included',
    };
  }

  /** @throws Error where the server is behind the one that told of the last number */
  async #digestsOf(deployment: string, numbers: readonly number[], signal: AbortSignal) {
    const asked = numbers.map((number) => this.#toRegistry(digestCall(deployment, number)));
    const answers = await this.#rpc.results(asked, signal);
    const digests = answers.map((answer) => readDigest(answer as Hex));
    if (digests.includes(NOT_RECORDED))
      throw new Error('an RPC server has not reached the block of a push that was told of');
    return digests;
  }
}

/** What nodes say about a transaction that they do not take; the words of geth, and those of others for the same. */
const ANSWERS: readonly (readonly [RegExp, AnswerOutcome['kind']])[] = [
  [/already known|already imported|known transaction|alreadyknown/i, 'sent'],
  [/nonce too low|nonce is too low|old ?nonce|already been used/i, 'spent'],
  [/underpriced|fee too low|less than block base fee|below base fee|fee cap.*base fee/i, 'underpriced'],
  [/insufficient ?(funds|balance)/i, 'unaffordable'],
  [/gas limit|intrinsic gas|oversized|too large|invalid (sender|signature|transaction)|rlp/i, 'refused'],
];

/** What nodes say that take no transaction at present, whichever it is. */
const BUSY = /pool.*(full|limit)|too many|limit exceeded|timed? ?out|busy|unavailable|syncing/i;

/** What an answer says of its transaction alone. */
type AnswerOutcome = Exclude<SendOutcome, { readonly kind: 'untaken' }>;

/** @throws ServersAway where the node takes nothing at present */
function outcomeOf({ message, isBusy }: RpcFailure): AnswerOutcome {
  const [, kind = 'unclear'] = ANSWERS.find(([words]) => words.test(message)) ?? [];
  if (kind === 'unclear' && (isBusy || BUSY.test(message)))
    throw new ServersAway('the RPC server takes no transactions at present');
  return kind === 'refused' || kind === 'unclear' ? { kind, reason: message } : { kind };
}
