import type { RecordedPushes } from '../chain-port.js';
import { memoText, readMemo } from './memo.js';

/** One transaction of the signer, as `getSignaturesForAddress` tells. */
export interface SignerTransaction {
  readonly signature: string;
  readonly err: unknown;
  readonly memo: string | null;
}

/** A page of the signer's transactions, newest first: before one of them, and after another one. */
export type ReadTransactions = (
  range: { before?: string; until?: string },
  signal: AbortSignal,
) => Promise<readonly SignerTransaction[]>;

/** What the signer's memos record of each deployment, oldest first. */
export interface MemoIndex {
  of(deployment: string, signal: AbortSignal): Promise<readonly RecordedPushes[]>;
}

const PAGE = 1000;

/**
 * A chain without a registry is asked by reading the signer's transactions: all of them once, then what is new. An index
 * that has become large is made anew when it is next needed.
 */
export function createMemoIndex(read: ReadTransactions, maxEntries = 200_000): MemoIndex {
  let known = new Map<string, RecordedPushes[]>();
  let entries = 0;
  let newest: string | undefined;

  const add = ({ signature, err, memo }: SignerTransaction) => {
    const text = err === null ? memoText(memo) : undefined;
    const found = text === undefined ? undefined : readMemo(text);
    if (found === undefined) return;
    const { deployment, ...range } = found;
    const own = known.get(deployment) ?? [];
    own.push({ ...range, transaction: signature });
    known.set(deployment, own);
    entries += 1;
  };
  const refresh = async (signal: AbortSignal) => {
    const added: SignerTransaction[] = [];
    for (;;) {
      const before = added.at(-1)?.signature;
      const range = { ...(before && { before }), ...(newest && { until: newest }) };
      const page = await read(range, signal);
      added.push(...page);
      if (page.length < PAGE) break;
    }
    for (const one of added.toReversed()) add(one);
    newest = added[0]?.signature ?? newest;
  };
  return {
    of: async (deployment, signal) => {
      await refresh(signal);
      const own = known.get(deployment) ?? [];
      if (entries > maxEntries) {
        known = new Map();
        entries = 0;
        newest = undefined;
      }
      return own;
    },
  };
}
