import { hash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from '@orrery/contracts';
import { type Batch, batchDigest, isRange, type OutgoingPush } from '../../core/pushes/batch.js';
import type { RecordedPushes } from '../../core/pushes/compare-ranges.js';

/**
 * The memo of a batch (docs/on-chain.md): the content of one push; its digest, where that is too large; the range of
 * several, with the hash of the last entry and the batch's digest.
 */
export function memoOf({ deployment, pushes }: Batch): string {
  const [first, last] = [pushes[0], pushes.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('a batch holds one push at least');
  if (first !== last) {
    const digest = batchDigest(pushes.map((push) => push.digest));
    const { entryHash } = last;
    return canonicalJson({ v: 1, deployment, from: first.number, to: last.number, entryHash, digest });
  }
  return first.text ?? digestMemo(deployment, first);
}

const digestMemo = (deployment: string, { number, entryHash, digest }: OutgoingPush): string =>
  canonicalJson({ v: 1, deployment, number, entryHash, digest, truncated: true });

/** Bytes that a transaction of Solana has at most, so no memo is longer. */
const MAX_BYTES = 1232;
const DEPLOYMENT = /^0x[\da-f]{40}$/;
const DIGEST = /^[\da-f]{64}$/;

/** What a memo records, or undefined for one that is not of a push: its numbers are bounded before anyone counts with them. */
export function readMemo(
  text: string,
): (Omit<RecordedPushes, 'transaction'> & { deployment: string }) | undefined {
  const memo = text.length > MAX_BYTES ? undefined : parsed(text);
  if (memo?.['v'] !== 1) return undefined;
  const { deployment, number, from = number, to = number } = memo;
  const digest = memo['digest'] ?? hash('sha256', text, 'hex');
  if (typeof deployment !== 'string' || !DEPLOYMENT.test(deployment)) return undefined;
  if (typeof digest !== 'string' || !DIGEST.test(digest) || !isRange(from, to)) return undefined;
  return { deployment, from: Number(from), to: Number(to), digest };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** RPC servers give the memos of a transaction as `[bytes] text`, several joined by `; `. Ours have one. */
export const memoText = (memo: string | null): string | undefined =>
  /^\[\d+\] ([\s\S]*)$/.exec(memo ?? '')?.[1];
