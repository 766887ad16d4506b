import { ServersAway } from '../../core/chains/chain-port.js';
import { PUSHES_PER_TRANSACTION } from '../../core/pushes/batch.js';
import type { RecordedPushes } from '../../core/pushes/compare-ranges.js';
import { memoText, readMemo } from './memo.js';

/** A transaction that mentions the signer, as `getSignaturesForAddress` tells. Anyone can make one. */
export interface MentionedIn {
  readonly signature: string;
  readonly err: unknown;
  readonly memo: string | null;
  readonly confirmationStatus: string | null;
}

export interface TransactionReader {
  /** A page of the transactions that mention the signer, newest first: before one of them, and after another one. */
  list(range: { before?: string; until?: string }, signal: AbortSignal): Promise<readonly MentionedIn[]>;
  /** Of each transaction the memo, if the signer signed it and it had its effect; undefined for any other. */
  signedMemos(signatures: readonly string[], signal: AbortSignal): Promise<readonly (string | undefined)[]>;
}

/** What the signer's memos record of each deployment, oldest first, of numbers after one. */
export interface MemoIndex {
  of(deployment: string, after: number, signal: AbortSignal): Promise<readonly RecordedPushes[]>;
}

/** What a memo claims, until it is known who signed it. */
interface Claim {
  readonly signature: string;
  readonly deployment: string;
  range: Omit<RecordedPushes, 'transaction'>;
  isOwn: boolean | undefined;
}

const PAGE = 1000;
/** Entries that are kept, and pages that a server can be believed. */
const LIMITS = { maxEntries: 200_000, maxPages: 10_000 };
/** Transactions that are read for one deployment at once, so that no stranger's memos keep the other lanes waiting. */
const MAX_READ = 20 * PUSHES_PER_TRANSACTION;

/**
 * A chain without a registry is asked by reading the transactions that mention the signer: all of them once, then what is
 * new since the last final one. Who signed one is read from itself, once a lane is compared that its memo names. An index
 * that has become large is made anew when it is next needed.
 */
export function createMemoIndex(reader: TransactionReader, limits = LIMITS): MemoIndex {
  const final = new Map<string, Claim>();
  /** Of blocks that the chain may still take back. */
  let recent = new Map<string, Claim>();
  let newestFinal: string | undefined;

  const refresh = async (signal: AbortSignal) => {
    if (final.size > limits.maxEntries) {
      final.clear();
      newestFinal = undefined;
    }
    const mentions = await readSince(reader, newestFinal, limits.maxPages, signal);
    const known = recent;
    recent = new Map();
    for (const { claim, isFinal } of mentions.claims.toReversed()) {
      const { signature } = claim;
      (isFinal ? final : recent).set(signature, final.get(signature) ?? known.get(signature) ?? claim);
    }
    newestFinal = mentions.newestFinal ?? newestFinal;
  };
  return {
    of: async (deployment, after, signal) => {
      await refresh(signal);
      const claims = [...final.values(), ...recent.values()].filter(
        (claim) => claim.deployment === deployment && claim.range.to > after,
      );
      const unread = claims.filter(({ isOwn }) => isOwn === undefined);
      await readClaims(reader, unread.slice(0, MAX_READ), signal);
      for (const { signature } of unread.filter(({ isOwn }) => isOwn === false)) final.delete(signature);
      if (unread.length > MAX_READ) throw new Error('the memos of the deployment are still being read');
      return claims
        .filter(({ isOwn }) => isOwn)
        .map(({ range, signature }) => ({ ...range, transaction: signature }));
    },
  };
}

/** What memos claim since a transaction, newest first, and the newest final transaction. */
async function readSince(
  reader: TransactionReader,
  until: string | undefined,
  maxPages: number,
  signal: AbortSignal,
) {
  const claims: { claim: Claim; isFinal: boolean }[] = [];
  let newestFinal: string | undefined;
  let before: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await reader.list({ ...(before && { before }), ...(until && { until }) }, signal);
    for (const mention of page) {
      const isFinal = mention.confirmationStatus === 'finalized';
      if (isFinal) newestFinal ??= mention.signature;
      const claim = claimOf(mention);
      if (claim !== undefined) claims.push({ claim, isFinal });
    }
    before = page.at(-1)?.signature;
    if (page.length < PAGE) return { claims, newestFinal };
  }
  throw new ServersAway('an RPC server tells of more transactions than the signer can have');
}

function claimOf({ signature, err, memo }: MentionedIn): Claim | undefined {
  const text = err === null ? memoText(memo) : undefined;
  const found = text === undefined ? undefined : readMemo(text);
  if (found === undefined) return undefined;
  const { deployment, ...range } = found;
  return { signature, deployment, range, isOwn: undefined };
}

/** Replaces what a server says of a memo by what its transaction holds. */
async function readClaims(
  reader: TransactionReader,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  if (claims.length === 0) return;
  const memos = await reader.signedMemos(
    claims.map(({ signature }) => signature),
    signal,
  );
  for (const [at, claim] of claims.entries()) {
    const memo = memos[at];
    const found = memo === undefined ? undefined : readMemo(memo);
    claim.isOwn = found?.deployment === claim.deployment;
    if (found !== undefined && claim.isOwn) {
      const { deployment: _deployment, ...range } = found;
      claim.range = range;
    }
  }
}
