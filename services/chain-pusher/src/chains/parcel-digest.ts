import { hash } from 'node:crypto';
import { canonicalJson } from '@orrery/contracts';

/** The digest of consecutive pushes: SHA-256 of the canonical JSON array of their digests. That of one is its own. */
export const parcelDigest = (digests: readonly string[]): string =>
  digests.length === 1 && digests[0] !== undefined
    ? digests[0]
    : hash('sha256', canonicalJson([...digests]), 'hex');
