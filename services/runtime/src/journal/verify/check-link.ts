import type { Divergence, HashedEntry } from '@orrery/contracts';
import { hashOf } from '../entry.js';

/** What the entry before says about the next one. */
export interface Link {
  seq: number;
  prevHash: string;
}

/** Whether an entry is the next of its chain and its hash covers it; `undefined` when all is well. */
export function checkLink(link: Link, entry: HashedEntry, hash: string): Divergence['what'] | undefined {
  if (entry.seq !== link.seq) return 'missing_entry';
  if (entry.prevHash !== link.prevHash) return 'broken_link';
  return hashOf(entry) === hash ? undefined : 'wrong_hash';
}
