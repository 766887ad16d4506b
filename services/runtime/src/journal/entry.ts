import { hash } from 'node:crypto';
import {
  canonicalHash,
  type DeploymentSource,
  type HashedEntry,
  type InstanceChange,
  JOURNAL_VERSION,
  type JsonObject,
} from '@orrery/contracts';
import { type CheckedChanges, journalled } from '../execution/check-changes.js';
import { entryText } from './entry-text.js';

declare const sealed: unique symbol;

/** What will stand in the journal, before it has its place there. Its changes have been checked. */
export interface JournalEntryDraft
  extends Omit<HashedEntry, 'v' | 'seq' | 'prevHash' | 'changes' | 'attestation' | 'error'> {
  changes: CheckedChanges;
  error: HashedEntry['error'];
  attestation: JsonObject | null;
}

/** An entry with its place in the chain: only `sealEntry` makes one, and it is never changed afterwards. */
export type SealedEntry = Readonly<HashedEntry> & { readonly hash: string; readonly [sealed]: true };

/** Gives a draft its place; `seq` is the one after the head's and `prevHash` the head's hash. */
export function sealEntry(draft: JournalEntryDraft, place: { seq: number; prevHash: string }): SealedEntry {
  const changes: InstanceChange[] = draft.changes.map(journalled);
  const entry: HashedEntry = { ...draft, v: JOURNAL_VERSION, changes, ...place };
  return { ...entry, hash: sha256(entryText(entry)) } as unknown as SealedEntry;
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');

/**
 * SHA-256 of the RFC 8785 JSON of an entry as it was found (decisions §4 "Journal"). Unlike sealing it trusts no member
 * to have the form that it should have, so that anything added to a stored entry shows.
 */
export const hashOf = (entry: HashedEntry): string => canonicalHash(entry as unknown as JsonObject);

/** The `prevHash` of a deployment's first entry; both members as the deployment's record shows them. */
export const genesisHash = (origin: { deployment: string; source: DeploymentSource | null }): string =>
  canonicalHash({ deployment: origin.deployment, source: origin.source && { ...origin.source } });
