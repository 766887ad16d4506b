import {
  type Address,
  type Blockhash,
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  type RpcTransport,
  type Signature,
} from '@solana/kit';
import { LRUCache } from 'lru-cache';
import type { Chain, Charge, ChargeSearch, Payment, PaymentAsset } from '../../core/payments/payment.js';
import { readTransaction, type TokenTransfer } from '../../core/payments/solana-transaction.js';
import { callNode } from './signals.js';

const RPC_TIMEOUT_MS = 4000;
/**
 * Signatures of the payer in one answer (the most that nodes give), and how many answers are read at most. Those that are
 * later than the payment do not count: they only grow, and a search goes on after them.
 */
const PAGE = 1000;
const MAX_PAGES = 20;
/** A search covers this long before the settlement began and after the payment's end, in seconds: clocks differ. */
const SEARCH_MARGIN_S = 300;
/** Transactions that are remembered, so that a search which took too long goes on where it ended. */
const MAX_KNOWN = 20_000;
/** Searches that are remembered while they have come to later transactions alone. */
const MAX_SEARCHES = 1000;

/** The nodes of a network, each asked where those before it do not answer. */
export const openNodes = (rpcUrls: readonly string[]) =>
  createSolanaRpcFromTransport(inTurn(rpcUrls.map(tracedTransport)));

export function createSolanaChain({ rpcUrls }: Pick<PaymentAsset, 'rpcUrls'>): Chain {
  const rpc = openNodes(rpcUrls);
  const messages: KnownMessages = new LRUCache({ max: MAX_KNOWN });
  const places: Places = new LRUCache({ max: MAX_SEARCHES });
  return {
    look: (payment, search) => look({ rpc, messages, places, signal: search.signal }, payment, search),
  };
}

/** By the hash of a message: two signatures of its payer in their order, the oldest ones known to be later than its end. */
type Places = LRUCache<string, { readonly before: Signature; readonly next: Signature }>;

/** By signature: the hash of the message that it signs. A signature never signs another one. */
type KnownMessages = LRUCache<string, string>;

interface Asking {
  readonly rpc: Rpc;
  readonly messages: KnownMessages;
  readonly places: Places;
  readonly signal: AbortSignal;
}

/** Leaves a span of each call in the trace of the execution. */
function tracedTransport(url: string): RpcTransport {
  const transport = createDefaultRpcTransport({ url });
  return <T>(request: Parameters<RpcTransport>[0]) => {
    // The library makes JSON-RPC requests of its own.
    const { method } = request.payload as { readonly method: string };
    return callNode(url, method, () => transport<T>(request));
  };
}

/** Asks the next node when one does not answer. */
const inTurn =
  (transports: readonly RpcTransport[]): RpcTransport =>
  async <T>(request: Parameters<RpcTransport>[0]) => {
    let failure: unknown;
    for (const transport of transports) {
      try {
        const limit = AbortSignal.timeout(RPC_TIMEOUT_MS);
        const signal = request.signal === undefined ? limit : AbortSignal.any([limit, request.signal]);
        return await transport<T>({ ...request, signal });
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };

type Rpc = ReturnType<typeof createSolanaRpcFromTransport>;

async function look(asking: Asking, payment: Payment, { named, since }: ChargeSearch): Promise<Charge> {
  const transaction = readTransaction(payment.payload);
  for (const signature of named.filter(isSignature)) {
    const outcome = await outcomeOf(asking, signature, transaction);
    if (outcome !== undefined) return outcome;
  }
  // Asked before the search: what expired then and is not found now cannot be charged any more.
  const isUsable = await mayBeUsed(asking, transaction.blockhash);
  const found = await search(asking, transaction, {
    oldest: BigInt(Math.floor(since / 1000) - SEARCH_MARGIN_S),
    // While it can be used, blocks may be as late as this process's clock is wrong.
    latest: isUsable ? undefined : BigInt(Math.ceil(payment.validUntil / 1000) + SEARCH_MARGIN_S),
  });
  if (found !== undefined) return found;
  return isUsable ? { kind: 'open', failed: [] } : { kind: 'void', reason: 'authorization_expired' };
}

const isSignature = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text);

/**
 * Whether a blockhash can still be used. The finalized block does not know blockhashes of the last seconds yet, and the
 * latest one forgets old ones while blocks that used them may still be on their way: either may say no too early.
 */
async function mayBeUsed({ rpc, signal: abortSignal }: Asking, blockhash: Blockhash): Promise<boolean> {
  const asked = (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
    rpc.isBlockhashValid(blockhash, { commitment }).send({ abortSignal }),
  );
  return (await Promise.all(asked)).some(({ value }) => value);
}

interface Times {
  readonly oldest: bigint;
  readonly latest: bigint | undefined;
}

/** Looks through the transactions of the payer, the latest first. @throws when there are too many */
async function search(
  asking: Asking,
  transaction: TokenTransfer,
  { oldest, latest }: Times,
): Promise<Charge | undefined> {
  const payer = transaction.transfers[0]?.authority as Address;
  const { places } = asking;
  let place = latest === undefined ? undefined : places.get(transaction.messageHash);
  let before: Signature | undefined = place?.before;
  for (let page = 0; page < MAX_PAGES; ) {
    const signatures = await pageBefore(asking, payer, before).catch((error: unknown) => {
      // A node may also refuse a signature that it does not know: the next search begins anew.
      if (place !== undefined && !asking.signal.aborted) places.delete(transaction.messageHash);
      throw error;
    });
    if (place !== undefined && !holds(signatures, place.next)) {
      // A node that does not know a signature says that there is none before it: that would be "not charged".
      place = before = undefined;
      places.delete(transaction.messageHash);
      continue;
    }
    place = undefined;
    let isLater = true;
    for (const { signature, blockTime } of signatures) {
      if (blockTime !== null && blockTime < oldest) return undefined;
      if (blockTime !== null && latest !== undefined && blockTime > latest) continue;
      isLater = false;
      const outcome = await outcomeOf(asking, signature, transaction);
      if (outcome !== undefined) return outcome;
    }
    before = signatures.at(-1)?.signature;
    if (signatures.length < PAGE || before === undefined) return undefined;
    const last = signatures.at(-2)?.signature;
    if (isLater && last !== undefined) places.set(transaction.messageHash, { before: last, next: before });
    if (!isLater) page += 1;
  }
  throw new Error('the payer has too many transactions to find one');
}

const holds = (page: readonly { readonly signature: Signature }[], sought: Signature): boolean =>
  page.some(({ signature }) => signature === sought);

/** Signatures of the payer, the latest first. */
function pageBefore({ rpc, signal: abortSignal }: Asking, payer: Address, before: Signature | undefined) {
  const options = { commitment: 'confirmed', limit: PAGE, ...(before !== undefined && { before }) } as const;
  return rpc.getSignaturesForAddress(payer, options).send({ abortSignal });
}

/** The outcome of the transaction with a signature, if it is ours: a failed one cannot be executed again. */
async function outcomeOf(
  { rpc, messages, signal: abortSignal }: Asking,
  signature: string,
  { messageHash }: TokenTransfer,
): Promise<Charge | undefined> {
  const known = messages.get(signature);
  if (known !== undefined && known !== messageHash) return undefined;
  const found = await rpc
    .getTransaction(signature as Signature, {
      commitment: 'confirmed',
      encoding: 'base64',
      maxSupportedTransactionVersion: 0,
    })
    .send({ abortSignal });
  const [text] = found?.transaction ?? [];
  if (text === undefined) return undefined;
  const signed = readTransaction({ transaction: text }).messageHash;
  messages.set(signature, signed);
  if (signed !== messageHash) return undefined;
  return found?.meta?.err == null
    ? {
        kind: 'charged',
        transaction: signature,
        ...(found?.blockTime != null && { at: Number(found.blockTime) * 1000 }),
      }
    : { kind: 'void', reason: 'transaction_failed' };
}
