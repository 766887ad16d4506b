import {
  type Address,
  type Blockhash,
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  type RpcTransport,
  type Signature,
} from '@solana/kit';
import type { Chain, Charge, Payment, PaymentAsset } from '../payment.js';
import { readTransaction, type TokenTransfer } from './read-transaction.js';

/** Milliseconds that one node may take to answer. */
const RPC_TIMEOUT_MS = 4000;
/** Signatures of the payer in one answer, and how many answers are read at most. */
const PAGE = 100;
const MAX_PAGES = 20;
/** A search goes back this long before the settlement began, in seconds: clocks differ. */
const SEARCH_MARGIN_S = 300;

export function createSolanaChain({ rpcUrls }: Pick<PaymentAsset, 'rpcUrls'>): Chain {
  const rpc = createSolanaRpcFromTransport(inTurn(rpcUrls.map((url) => createDefaultRpcTransport({ url }))));
  return { look: (payment, since, hint) => look(rpc, payment, since, hint) };
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

async function look(rpc: Rpc, payment: Payment, since: number, hint: string | undefined): Promise<Charge> {
  const transaction = readTransaction(payment.payload);
  const hinted = hint === undefined ? undefined : await outcomeOf(rpc, hint, transaction);
  if (hinted !== undefined) return hinted;
  // Asked before the search: what expired then and is not found now cannot be charged any more.
  const isUsable = await mayBeUsed(rpc, transaction.blockhash);
  const found = await search(rpc, transaction, since);
  if (found !== undefined) return found;
  return isUsable ? { kind: 'open' } : { kind: 'void', reason: 'The transaction expired unused.' };
}

/**
 * Whether a blockhash can still be used. The finalized block does not know blockhashes of the last seconds yet, and the
 * latest one forgets old ones while blocks that used them may still be on their way: either may say no too early.
 */
async function mayBeUsed(rpc: Rpc, blockhash: Blockhash): Promise<boolean> {
  const asked = (['processed', 'confirmed', 'finalized'] as const).map((commitment) =>
    rpc.isBlockhashValid(blockhash, { commitment }).send(),
  );
  return (await Promise.all(asked)).some(({ value }) => value);
}

/** Looks through the latest transactions of the payer. @throws when there are too many */
async function search(rpc: Rpc, transaction: TokenTransfer, since: number): Promise<Charge | undefined> {
  const payer = transaction.transfers[0]?.authority as Address;
  const oldest = BigInt(Math.floor(since / 1000) - SEARCH_MARGIN_S);
  let before: Signature | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const options = {
      commitment: 'confirmed',
      limit: PAGE,
      ...(before !== undefined && { before }),
    } as const;
    const signatures = await rpc.getSignaturesForAddress(payer, options).send();
    for (const { signature, blockTime } of signatures) {
      if (blockTime !== null && blockTime < oldest) return undefined;
      const outcome = await outcomeOf(rpc, signature, transaction);
      if (outcome !== undefined) return outcome;
    }
    before = signatures.at(-1)?.signature;
    if (signatures.length < PAGE || before === undefined) return undefined;
  }
  throw new Error('the payer has too many transactions to find one');
}

/** What became of the transaction with a signature, if it is ours: a failed one cannot be executed again. */
async function outcomeOf(rpc: Rpc, signature: string, ours: TokenTransfer): Promise<Charge | undefined> {
  const found = await rpc
    .getTransaction(signature as Signature, {
      commitment: 'confirmed',
      encoding: 'base64',
      maxSupportedTransactionVersion: 0,
    })
    .send();
  const [text] = found?.transaction ?? [];
  if (text === undefined || readTransaction({ transaction: text }).messageHash !== ours.messageHash)
    return undefined;
  return found?.meta?.err == null
    ? { kind: 'charged', transaction: signature }
    : { kind: 'void', reason: 'The transaction failed on its chain.' };
}
