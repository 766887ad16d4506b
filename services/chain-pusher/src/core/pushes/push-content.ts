import { hash } from 'node:crypto';
import {
  canonicalJson,
  type JournalFact,
  type JsonObject,
  type JsonValue,
  type OnchainFilter,
  type PastHead,
  parseJson,
} from '@orrery/contracts';

/** What is pushed of an execution, before it is cut to the size that a chain takes, or of a head. */
export interface PushContent {
  /** The canonical JSON of the content (RFC 8785, docs/on-chain.md). */
  readonly text: string;
  /** SHA-256 of `text`. */
  readonly digest: string;
}

/** The content of an execution's push under its number. The filter is the binding's when the execution committed. */
export function pushContent(entry: JournalFact, number: number, filter: OnchainFilter | null): PushContent {
  const content: JsonObject = {
    v: 1,
    number,
    deployment: entry.deployment,
    event: entry.event,
    eventVersion: entry.eventVersion,
    historyId: entry.id,
    seq: entry.seq,
    inputHash: entry.inputHash,
    entryHash: entry.hash,
    stateChanges: allowedChanges(entry.stateChanges, filter?.stateChanges ?? null),
    result: allowedResult(entry.result as JsonValue, filter?.result ?? null),
  };
  return contentOf(content);
}

/** The content of a head's push under its number: the same for all who read the journal. */
export const headContent = (
  deployment: string,
  { entryHash, ...head }: PastHead,
  number: number,
): PushContent => contentOf({ v: 1, number, deployment, head, entryHash });

/** The same content under another number. */
export const renumbered = (text: string, number: number): PushContent =>
  contentOf({ ...(parseJson(text) as JsonObject), number });

function contentOf(content: JsonObject): PushContent {
  const text = canonicalJson(content);
  return { text, digest: hash('sha256', text, 'hex') };
}

/**
 * The attributes that the filter names, as `attribute` or `schema.attribute`, of each changed instance. Instances of which
 * nothing is left are left out; a deletion is pushed only without a filter.
 */
function allowedChanges(changes: JournalFact['stateChanges'], allowed: readonly string[] | null): JsonObject {
  if (allowed === null) return changes as JsonObject;
  const names = new Set(allowed);
  const kept = Object.entries(changes).flatMap(([key, attributes]) => {
    const schema = key.slice(0, key.indexOf(':'));
    const left = Object.entries(attributes ?? {}).filter(
      ([name]) => names.has(name) || names.has(`${schema}.${name}`),
    );
    return left.length === 0 ? [] : [[key, Object.fromEntries(left)] as const];
  });
  return Object.fromEntries(kept) as JsonObject;
}

/** The top-level members that the filter names. Of a result that is no object nothing is named, so nothing is pushed. */
function allowedResult(result: JsonValue, allowed: readonly string[] | null): JsonValue {
  if (allowed === null) return result;
  if (allowed.length === 0 || typeof result !== 'object' || result === null || Array.isArray(result))
    return null;
  return Object.fromEntries(Object.entries(result).filter(([name]) => allowed.includes(name)));
}
