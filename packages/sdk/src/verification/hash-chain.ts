import type { components } from '../generated/api.js';
import { toHex } from '../json/hex.js';

/**
 * The one text of a JSON value by RFC 8785. It is the SDK's own on purpose: a verification that used the service's code
 * would repeat the service's mistakes.
 */
export function canonicalJson(json: unknown): string {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(canonicalJson).join(',')}]`;
  const value = json as Record<string, unknown>;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`;
}

/** SHA-256 of the text's UTF-8 bytes, in 64 lowercase hex digits. Pages need HTTPS or localhost for it. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return toHex(new Uint8Array(digest));
}

type Entry = components['schemas']['LiveExecution'];
type Source = components['schemas']['DeploymentSource'] | null;

/** The members that the hash of every entry covers (docs/history.md, "The hash chain"). */
const COVERED = [
  'v',
  'deployment',
  'id',
  'seq',
  'kind',
  'event',
  'eventVersion',
  'versionHash',
  'trigger',
  'caller',
  'status',
  'input',
  'changes',
  'result',
  'error',
  'llmHash',
  'attestation',
  'paymentKey',
  'executedAt',
  'prevHash',
] as const satisfies readonly (keyof Entry)[];

/** What entries of version 2 add: those that are there are covered. */
const ADDED = [
  'decidedAt',
  'evaluator',
  'timers',
  'cause',
  'depth',
  'readHistoryHash',
  'replayOf',
  'randomness',
] as const satisfies readonly (keyof Entry)[];

/** The `prevHash` of a deployment's first entry. */
export const firstLink = (deployment: string, source: Source): Promise<string> =>
  sha256(canonicalJson({ deployment, source }));

const IN_ORDER = [...COVERED, ...ADDED].sort();

/** Half of a surrogate pair, as `JSON.stringify` writes it: UTF-8 has none, and RFC 8785 allows none. */
const HALF_PAIR = /(?<!\\)(?:\\\\)*\\ud/;

/** What the hash of an entry covers, as the text that is hashed. Undefined: by the recipe no hash covers such an entry. */
export function hashedText(entry: Entry): string | undefined {
  const isKnown = entry.v === 2 || (entry.v === 1 && ADDED.every((member) => entry[member] === undefined));
  if (!isKnown) return undefined;
  const members = IN_ORDER.filter(
    (member) => entry[member] !== undefined || !ADDED.includes(member as never),
  );
  const text = `{${members.map((member) => `"${member}":${canonicalJson(entry[member])}`).join(',')}}`;
  return HALF_PAIR.test(text) ? undefined : text;
}

type Change = components['schemas']['InstanceChange'];
type State = Record<string, unknown>;
/** Schema and instanceId, joined by the first colon: a schema's name has none. */
type Key = string;

interface Instance {
  readonly state: State;
  readonly revision: number;
}

/** All instances of a deployment after some entry, in the order of their creation. */
export type States = Map<Key, Instance>;

export const keyOf = (entitySchema: string, instanceId: string): Key => `${entitySchema}:${instanceId}`;

/** The schema and the instanceId of a key. */
export function splitKey(key: Key): { entitySchema: string; instanceId: string } {
  const colon = key.indexOf(':');
  return { entitySchema: key.slice(0, colon), instanceId: key.slice(colon + 1) };
}

/** Applies a change (docs/history.md, "Changes and their fold"). Answers false where it cannot follow the state. */
export function applyChange(
  states: States,
  { entitySchema, instanceId, op, set, unset, revision }: Change,
): boolean {
  const key = keyOf(entitySchema, instanceId);
  const before = states.get(key);
  if ((before === undefined) !== (op === 'create') || revision !== (before?.revision ?? 0) + 1) return false;
  if (op === 'delete') return states.delete(key);
  const state = { ...before?.state, ...set };
  for (const name of unset) delete state[name];
  states.set(key, { state, revision });
  return true;
}

/** `source.snapshotHash` of a clone that begins with these states. */
export function snapshotHash(states: States): Promise<string> {
  const rows = [...states].map(([key, { state }]) => ({ ...splitKey(key), state }));
  rows.sort((a, b) => inBytes(a.entitySchema, b.entitySchema) || inBytes(a.instanceId, b.instanceId));
  return sha256(rows.map((row) => `${canonicalJson(row)}\n`).join(''));
}

/** The order of UTF-8 bytes, which is that of code points and not of UTF-16 code units. */
function inBytes(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
