import type { Logger } from '@orrery/service-kit';
import {
  type Address,
  type Blockhash,
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  type RpcTransport,
  type Signature,
  type Slot,
} from '@solana/kit';
import { LRUCache } from 'lru-cache';
import type { Chain, Charge, ChargeSearch, Payment } from '../../core/payments/payment.js';
import { readTransaction, type TokenTransfer } from '../../core/payments/solana-transaction.js';
import { type NetworkNodes, type NodeCheck, ofItsNetwork } from './node-check.js';
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
/** A payment counts as expired this long after its end by the chain's clock, in milliseconds. */
const EXPIRY_MARGIN_MS = 60_000;
/** The account with the chain's clock, and where in it the time is, in seconds. */
const CLOCK = 'SysvarC1ock11111111111111111111111111111111' as Address;
const CLOCK_TIME_AT = 32;
/** Transactions that are remembered, so that a search which took too long goes on where it ended. */
const MAX_KNOWN = 20_000;
/** Searches that are remembered while they have come to later transactions alone. */
const MAX_SEARCHES = 1000;

/** The nodes of a network, each asked where those before it do not answer. */
export const openNodes = (rpcUrls: readonly string[]) =>
  createSolanaRpcFromTransport(inTurn(rpcUrls.map(tracedTransport)));

export function createSolanaChain(asset: NetworkNodes, logger: Logger): Chain {
  const nodes = asset.rpcUrls.map((url, index) => {
    const transport = tracedTransport(url);
    return checkedTransport(
      transport,
      ofItsNetwork({ asset, index, logger }, () => networkOf(transport)),
    );
  });
  const rpc = createSolanaRpcFromTransport(inTurn(nodes));
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

/** By CAIP-2. */
async function networkOf(transport: RpcTransport): Promise<string> {
  const abortSignal = AbortSignal.timeout(RPC_TIMEOUT_MS);
  const genesis = await createSolanaRpcFromTransport(transport).getGenesisHash().send({ abortSignal });
  return `solana:${genesis.slice(0, 32)}`;
}

const checkedTransport =
  (transport: RpcTransport, check: NodeCheck): RpcTransport =>
  async <T>(request: Parameters<RpcTransport>[0]) => {
    await check();
    return transport<T>(request);
  };

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
    if (outcome !== undefined && outcome !== 'absent') return outcome;
  }
  // Asked before the search: what expired then and is not found now cannot be charged any more.
  const expiredAt = await slotOfExpiry(asking, payment, transaction.blockhash);
  const isUsable = expiredAt === undefined;
  const found = await search(asking, transaction, {
    oldest: BigInt(Math.floor(since / 1000) - SEARCH_MARGIN_S),
    // While it can be used, blocks may be as late as this process's clock is wrong.
    latest: isUsable ? undefined : BigInt(Math.ceil(payment.validUntil / 1000) + SEARCH_MARGIN_S),
    expiredAt,
  });
  if (found !== undefined) return found;
  return isUsable ? { kind: 'open', failed: [] } : { kind: 'void', reason: 'authorization_expired' };
}

const isSignature = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text);

/**
 * A final slot in which a blockhash could not be used any more; undefined while it may be. A node that lags behind says the
 * same of a blockhash that it does not know yet, so none is asked before its final block is later than the payment's end.
 * The latest block forgets old ones while blocks that used them may still be on their way: the final one has to agree.
 */
async function slotOfExpiry(
  { rpc, signal: abortSignal }: Asking,
  { validUntil }: Payment,
  blockhash: Blockhash,
): Promise<Slot | undefined> {
  const { slot: minContextSlot, time } = await finalClock(rpc, abortSignal);
  if (time <= validUntil + EXPIRY_MARGIN_MS) return undefined;
  const asked = (['finalized', 'confirmed', 'processed'] as const).map((commitment) =>
    rpc.isBlockhashValid(blockhash, { commitment, minContextSlot }).send({ abortSignal }),
  );
  const answers = await Promise.all(asked);
  return answers.some(({ value }) => value) ? undefined : answers[0]?.context.slot;
}

/** The slot of a node's final block, and its time in milliseconds since the epoch. */
async function finalClock(rpc: Rpc, abortSignal: AbortSignal): Promise<{ slot: Slot; time: number }> {
  const { context, value } = await rpc
    .getAccountInfo(CLOCK, { commitment: 'finalized', encoding: 'base64' })
    .send({ abortSignal });
  if (value === null) throw new Error('a node does not tell the time of its final block');
  const seconds = Buffer.from(value.data[0], 'base64').readBigInt64LE(CLOCK_TIME_AT);
  return { slot: context.slot, time: Number(seconds) * 1000 };
}

interface Times {
  readonly oldest: bigint;
  readonly latest: bigint | undefined;
  /** A node that has not reached this slot may lack the last transactions. */
  readonly expiredAt: Slot | undefined;
}

/** Looks through the transactions of the payer, the latest first. @throws when there are too many */
async function search(
  asking: Asking,
  transaction: TokenTransfer,
  { oldest, latest, expiredAt }: Times,
): Promise<Charge | undefined> {
  const payer = transaction.transfers[0]?.authority as Address;
  const { places } = asking;
  let place = latest === undefined ? undefined : places.get(transaction.messageHash);
  let before: Signature | undefined = place?.before;
  for (let page = 0; page < MAX_PAGES; ) {
    const signatures = await pageBefore(asking, payer, before, expiredAt).catch((error: unknown) => {
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
      // It may be ours.
      if (outcome === 'absent') throw new Error('a node does not give a transaction that it told of');
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
function pageBefore(
  { rpc, signal: abortSignal }: Asking,
  payer: Address,
  before: Signature | undefined,
  minContextSlot: Slot | undefined,
) {
  const options = {
    ...({ commitment: 'confirmed', limit: PAGE } as const),
    ...(before !== undefined && { before }),
    ...(minContextSlot !== undefined && { minContextSlot }),
  };
  return rpc.getSignaturesForAddress(payer, options).send({ abortSignal });
}

/**
 * The outcome of the transaction with a signature, if it is ours: a failed one cannot be executed again. 'absent': the node
 * does not have it (yet). @throws where the node does not tell how ours ended
 */
async function outcomeOf(
  { rpc, messages, signal: abortSignal }: Asking,
  signature: string,
  { messageHash }: TokenTransfer,
): Promise<Charge | 'absent' | undefined> {
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
  if (found == null || text === undefined) return 'absent';
  const { meta, blockTime } = found;
  const signed = readTransaction({ transaction: text }).messageHash;
  messages.set(signature, signed);
  if (signed !== messageHash) return undefined;
  if (meta == null) throw new Error('a node does not tell whether a transaction has failed');
  if (meta.err != null) return { kind: 'void', reason: 'transaction_failed' };
  return {
    kind: 'charged',
    transaction: signature,
    ...(blockTime != null && { at: Number(blockTime) * 1000 }),
  };
}
