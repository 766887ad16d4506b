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

/** What a memo claims, until it is known who signed it. */
export interface Claim {
  readonly signature: string;
  readonly deployment: string;
  range: Omit<RecordedPushes, 'transaction'>;
  isOwn: boolean | undefined;
}

/** How much is kept and done at most. */
export interface MemoLimits {
  /** Claims that are kept. */
  readonly maxEntries: number;
  /** Pages that one question lists, of each part of the history. */
  readonly maxPages: number;
}

const PAGE = 1000;
/** Transactions that are read for one deployment at once, so that no stranger's memos keep the other lanes waiting. */
export const MAX_READ = 20 * PUSHES_PER_TRANSACTION;

/** There is more to read than one question may; the next one goes on where this one ended. */
export const stillBeingRead = () => new Error('the memos of the deployment are still being read');

export interface ClaimsPage {
  /** Newest first. */
  readonly claims: readonly { readonly claim: Claim; readonly isFinal: boolean }[];
  readonly newestFinal: string | undefined;
  readonly isLastFinal: boolean;
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** @throws ServersAway for a page that does not lead on */
export async function readPage(
  reader: TransactionReader,
  { before, until }: { before?: string | undefined; until?: string | undefined },
  signal: AbortSignal,
): Promise<ClaimsPage> {
  const page = await reader.list({ ...(before && { before }), ...(until && { until }) }, signal);
  const last = page.at(-1);
  if (last !== undefined && last.signature === before)
    throw new ServersAway('an RPC server tells of the same transactions again');
  return {
    claims: page.flatMap((mention) => {
      const claim = claimOf(mention);
      return claim === undefined ? [] : [{ claim, isFinal: isFinal(mention) }];
    }),
    newestFinal: page.find(isFinal)?.signature,
    isLastFinal: last !== undefined && isFinal(last),
    next: page.length < PAGE ? undefined : last?.signature,
  };
}

const isFinal = ({ confirmationStatus }: MentionedIn): boolean => confirmationStatus === 'finalized';

function claimOf({ signature, err, memo }: MentionedIn): Claim | undefined {
  const text = err === null ? memoText(memo) : undefined;
  const found = text === undefined ? undefined : readMemo(text);
  if (found === undefined) return undefined;
  const { deployment, ...range } = found;
  return { signature, deployment, range, isOwn: undefined };
}

/** Replaces what a server says of a memo by what its transaction holds. */
export async function readClaims(
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
