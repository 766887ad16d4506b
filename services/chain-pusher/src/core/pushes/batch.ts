import { hash } from 'node:crypto';
import { canonicalJson } from '@orrery/contracts';

/** Pushes that one transaction carries at most, when a lane has fallen behind. */
export const PUSHES_PER_TRANSACTION = 50;

/** Bytes of contents that one transaction carries at most; one push always fits. */
const BATCH_BYTES = 24 * 1024;

/** A push as a chain takes it. */
export interface OutgoingPush {
  readonly number: number;
  readonly entryHash: string;
  readonly digest: string;
  /** The canonical JSON of the content; null where only the digest goes. */
  readonly text: string | null;
}

/** Consecutive pushes of one deployment, which go together or not at all. Without any it only uses up a nonce. */
export interface Batch {
  readonly deployment: string;
  readonly pushes: readonly OutgoingPush[];
}

/** The digest of consecutive pushes: SHA-256 of the canonical JSON array of their digests. That of one is its own. */
export const batchDigest = (digests: readonly string[]): string =>
  digests.length === 1 && digests[0] !== undefined
    ? digests[0]
    : hash('sha256', canonicalJson([...digests]), 'hex');

/** Whether these are the first and the last number of what one transaction can carry. */
export const isRange = (from: unknown, to: unknown): boolean =>
  Number.isSafeInteger(from) &&
  Number.isSafeInteger(to) &&
  Number(from) >= 1 &&
  Number(from) <= Number(to) &&
  Number(to) - Number(from) < PUSHES_PER_TRANSACTION;

/** The first ones that fit into one transaction by their bytes. */
export function withinBytes<Row extends { readonly bytes: number }>(rows: readonly Row[]): Row[] {
  let bytes = 0;
  return rows.filter(({ bytes: own }, at) => {
    bytes += own;
    return at === 0 || bytes <= BATCH_BYTES;
  });
}

/** The first ones, with at most this many that were never sent before. */
export function withinGrant<Row extends { readonly isNew: boolean }>(
  rows: readonly Row[],
  granted: number,
): readonly Row[] {
  const firstBeyond = rows.filter(({ isNew }) => isNew)[granted];
  return firstBeyond === undefined ? rows : rows.slice(0, rows.indexOf(firstBeyond));
}
