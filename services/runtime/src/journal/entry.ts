import { hash } from 'node:crypto';
import {
  canonicalHash,
  canonicalJson,
  type DeploymentSource,
  type HashedEntry,
  JOURNAL_VERSION,
  type JsonObject,
} from '@orrery/contracts';
import { type CheckedChanges, journalled } from './change.js';
import { changesTextOf, entryText } from './entry-text.js';

declare const sealed: unique symbol;

/** What will stand in the journal, before it has its place there. Its changes have been checked. */
export interface JournalEntryDraft
  extends Omit<HashedEntry, 'v' | 'seq' | 'prevHash' | 'changes' | 'attestation' | 'error'> {
  changes: CheckedChanges;
  error: HashedEntry['error'];
  attestation: JsonObject | null;
}

/** An entry with its place in the chain: only `sealEntry` makes one, and it is never changed afterwards. */
export type SealedEntry = Readonly<HashedEntry> & {
  readonly hash: string;
  /** What the hash covers: the RFC 8785 JSON of all members but these five. */
  readonly text: string;
  /** The parts of `text` that are free JSON. */
  readonly inputText: string;
  readonly changesText: string;
  /** SHA-256 of the RFC 8785 JSON of `input`. */
  readonly inputHash: string;
  readonly [sealed]: true;
};

/** Gives a draft its place; `seq` is the one after the head's and `prevHash` the head's hash. */
export function sealEntry(draft: JournalEntryDraft, place: { seq: number; prevHash: string }): SealedEntry {
  const inputText = canonicalJson(draft.input);
  const changes = draft.changes.map(journalled);
  const changesText = changesTextOf(changes);
  // Member by member: spreading an object of this size takes longer than hashing it.
  const entry = {
    v: JOURNAL_VERSION,
    deployment: draft.deployment,
    id: draft.id,
    seq: place.seq,
    kind: draft.kind,
    event: draft.event,
    eventVersion: draft.eventVersion,
    versionHash: draft.versionHash,
    trigger: draft.trigger,
    caller: draft.caller,
    status: draft.status,
    input: draft.input,
    changes,
    result: draft.result,
    error: draft.error,
    llmHash: draft.llmHash,
    attestation: draft.attestation,
    paymentKey: draft.paymentKey,
    executedAt: draft.executedAt,
    prevHash: place.prevHash,
    hash: '',
    text: '',
    inputText,
    changesText,
    inputHash: sha256(inputText),
  } satisfies HashedEntry & Omit<SealedEntry, typeof sealed>;
  entry.text = entryText(entry, inputText, changesText);
  entry.hash = sha256(entry.text);
  return entry as unknown as SealedEntry;
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
