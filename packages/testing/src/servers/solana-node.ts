import {
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
} from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { serveJsonRpc } from './json-rpc.js';

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** Slots after which a block is confirmed, and final. */
const CONFIRMED = 1;
const FINAL = 3;
/** Signatures of an address that a node tells of at once. */
const PAGE = 1000;

/** A transaction in a block, whether it had its effect or failed and cost its fee. */
interface Executed {
  readonly signature: string;
  readonly slot: number;
  readonly wire: string;
  /** All that it mentions. */
  readonly accounts: readonly string[];
  readonly memos: readonly string[];
  readonly err: unknown;
}

export interface SolanaNode extends AsyncDisposable {
  readonly url: string;
  /** As in a CAIP-2 id. */
  readonly caip2: string;
  /** The memos on the chain of transactions that did not fail, oldest first; whoever signed them. */
  memos(): string[];
  /** @param lamports 1,000 SOL unless given */
  fund(address: string, lamports?: number): void;
  /** Lets the chain forget its latest blocks, as a fork that is not chosen. Final ones stay. */
  fork(): void;
  /** Lets the chain forget the transaction with this memo, unless its block has been confirmed: that of others was chosen. */
  loseUnconfirmed(memo: string): void;
  /** Lets so many slots pass at once that no blockhash of before can be used any more. */
  outdate(): void;
}

interface Options {
  readonly until?: string;
  readonly before?: string;
  readonly limit?: number;
  readonly commitment?: string;
  readonly skipPreflight?: boolean;
  readonly maxSupportedTransactionVersion?: number;
}
type Params = readonly [unknown, Options?];

/** The code of a transaction that a preflight refuses. */
const REFUSED = -32_002;
const GENESIS = 'TestTestTestTestTestTestTestTest1111111111111';

/**
 * Solana's virtual machine (LiteSVM) behind the part of its RPC that memos need; a slot takes `slotMs`, and a blockhash
 * can be used for `lifetime` slots (on Solana 150), on a busy machine too. As a real node, it tells for an address of all transactions that mention it, lets a transaction fail within a block, and says nothing
 * about one that was sent without a preflight and is never included.
 */
export async function startSolanaNode({ slotMs = 25, lifetime = 1200 } = {}): Promise<SolanaNode> {
  // Without a memory of its own, so that what a fork took away can be executed again.
  const svm = new LiteSVM().withTransactionHistory(0n);
  let slot = FINAL;
  let executed: Executed[] = [];
  let expiresAt = slot + lifetime;
  const hashes = new Map<string, number>([[svm.latestBlockhash(), expiresAt]]);

  const pass = (slots: number) => {
    slot += slots;
    if (slot < expiresAt - lifetime / 2) return;
    svm.expireBlockhash();
    expiresAt = slot + lifetime;
    hashes.set(svm.latestBlockhash(), expiresAt);
  };
  const ticking = setInterval(() => pass(1), slotMs);
  ticking.unref();

  const decode = (wire: string) => getTransactionDecoder().decode(getBase64Encoder().encode(wire));
  const depthOf = (one: Executed) => {
    const age = slot - one.slot;
    return age >= FINAL ? 'finalized' : age >= CONFIRMED ? 'confirmed' : 'processed';
  };
  const statusOf = (signature: unknown) => {
    const found = executed.find((one) => one.signature === signature);
    if (found === undefined) return null;
    return { slot: found.slot, err: found.err, confirmations: null, confirmationStatus: depthOf(found) };
  };
  /** Includes a transaction in a block, if it can be. @throws what a preflight would say */
  const include = (wire: string): void => {
    const transaction = decode(wire);
    const signature = getSignatureFromTransaction(transaction as never);
    if (executed.some((one) => one.signature === signature)) throw new Error('Transaction already processed');
    const { staticAccounts, instructions, lifetimeToken } = getCompiledTransactionMessageDecoder().decode(
      transaction.messageBytes,
    ) as unknown as CompiledMessage;
    if ((hashes.get(lifetimeToken) ?? 0) < slot) throw new Error('Blockhash not found');
    const payer = staticAccounts[0] as never;
    const balance = svm.getBalance(payer);
    // LiteSVM itself takes the latest blockhash alone; those before it are checked above.
    const outcome = svm.withBlockhashCheck(false).sendTransaction(transaction as never);
    const hasFailed = outcome instanceof FailedTransactionMetadata;
    // Who cannot pay is not included.
    if (hasFailed && svm.getBalance(payer) === balance) throw new Error(String(outcome.err()));
    const memos = instructions
      .filter(({ programAddressIndex }) => staticAccounts[programAddressIndex] === MEMO)
      .map(({ data }) => Buffer.from(data ?? []).toString());
    const err = hasFailed ? { InstructionError: [0, 'Custom'] } : null;
    executed.push({ signature, slot, wire, accounts: staticAccounts, memos, err });
  };
  const answers: Record<string, (...params: Params) => unknown> = {
    getGenesisHash: () => GENESIS,
    getBalance: (address) => ({ value: Number(svm.getBalance(address as never) ?? 0n) }),
    getAccountInfo: (address) => ({ value: address === MEMO ? { executable: true } : null }),
    getMinimumBalanceForRentExemption: (bytes) =>
      Number(svm.minimumBalanceForRentExemption(BigInt(Number(bytes)))),
    getBlockHeight: () => slot - FINAL,
    getLatestBlockhash: () => ({
      context: { slot },
      value: { blockhash: svm.latestBlockhash(), lastValidBlockHeight: expiresAt },
    }),
    simulateTransaction: (wire) => {
      const outcome = svm.withBlockhashCheck(false).simulateTransaction(decode(String(wire)) as never);
      if (outcome instanceof FailedTransactionMetadata) return { value: { err: String(outcome.err()) } };
      return { value: { err: null, unitsConsumed: Number(outcome.meta().computeUnitsConsumed()) } };
    },
    sendTransaction: (wire, { skipPreflight = false } = {}) => {
      const signature = getSignatureFromTransaction(decode(String(wire)) as never);
      try {
        include(String(wire));
      } catch (error) {
        if (!skipPreflight) throw error;
      }
      return signature;
    },
    getSignatureStatuses: (signatures) => ({
      context: { slot },
      value: (signatures as string[]).map(statusOf),
    }),
    getSignaturesForAddress: (address, { until, before, limit = PAGE, commitment = 'finalized' } = {}) => {
      if (limit > PAGE) throw new Error('Invalid limit; max 1000');
      const depth = commitment === 'finalized' ? FINAL : CONFIRMED;
      const all = executed
        .filter((one) => slot - one.slot >= depth && one.accounts.includes(String(address)))
        .toReversed();
      const at = all.findIndex(({ signature }) => signature === before);
      if (before !== undefined && at === -1) return [];
      const to = until === undefined ? -1 : all.findIndex(({ signature }) => signature === until);
      return all
        .slice(at + 1, to === -1 ? undefined : to)
        .slice(0, limit)
        .map((one) => ({
          signature: one.signature,
          slot: one.slot,
          err: one.err,
          memo: one.memos.map((memo) => `[${Buffer.byteLength(memo)}] ${memo}`).join('; ') || null,
          blockTime: null,
          confirmationStatus: depthOf(one),
        }));
    },
    getTransaction: (signature, { commitment = 'finalized', maxSupportedTransactionVersion } = {}) => {
      const found = executed.find((one) => one.signature === signature);
      const depth = commitment === 'finalized' ? FINAL : CONFIRMED;
      if (found === undefined || slot - found.slot < depth) return null;
      if (maxSupportedTransactionVersion === undefined)
        throw new Error('Transaction version (0) is not supported by the requesting client.');
      const { wire, err } = found;
      return { slot: found.slot, transaction: [wire, 'base64'], version: 0, meta: { err, fee: 5000 } };
    },
  };
  const listening = await serveJsonRpc((method: string, params: Params) => {
    const answer = answers[method];
    if (answer === undefined) throw new Error(`Method not found: ${method}`);
    return answer(...params);
  }, REFUSED);
  return {
    url: listening.url,
    caip2: `solana:${GENESIS.slice(0, 32)}`,
    memos: () => executed.filter(({ err }) => err === null).flatMap(({ memos }) => memos),
    fund: (address, lamports = 1e12) => void svm.airdrop(address as never, BigInt(lamports) as never),
    fork: () => {
      executed = executed.filter((one) => slot - one.slot >= FINAL);
    },
    loseUnconfirmed: (memo) => {
      executed = executed.filter((one) => slot - one.slot >= CONFIRMED || !one.memos.includes(memo));
    },
    outdate: () => pass(lifetime + FINAL + 1),
    [Symbol.asyncDispose]: async () => {
      clearInterval(ticking);
      await listening[Symbol.asyncDispose]();
    },
  };
}

/** The parts of a decoded message that are read here. */
interface CompiledMessage {
  readonly staticAccounts: readonly string[];
  readonly lifetimeToken: string;
  readonly instructions: readonly {
    readonly programAddressIndex: number;
    readonly data?: Uint8Array;
  }[];
}
