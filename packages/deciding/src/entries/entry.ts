import {
  canonicalHash,
  canonicalJson,
  type DeploymentSource,
  type ExecutionAnswer,
  type HashedEntry,
  type InstanceChange,
  type JournalVersion,
  type JsonObject,
  type JsonValue,
  type Recorded,
  type StateChangesView,
  sha256Hex,
} from '@orrery/contracts';

export interface InstanceName {
  entitySchema: string;
  instanceId: string;
}

/** How changes name an instance: `horse:HORSE_1`. Schema names hold no colon, so it is unambiguous. */
export const changeKey = ({ entitySchema, instanceId }: InstanceName): string =>
  `${entitySchema}:${instanceId}`;

/** A journalled change and the state that it leaves, `null` when it deletes. */
export interface CheckedChange extends InstanceChange {
  readonly state: JsonObject | null;
}

declare const checked: unique symbol;

/** Changes that satisfy their schemas: only `execution/check-changes.ts` makes them, and a commit takes nothing else. */
export type CheckedChanges = readonly CheckedChange[] & { readonly [checked]: true };

/** Checked changes that were stored, while nothing else could change their instances (`stageRun`). */
export const storedChanges = (changes: readonly CheckedChange[]): CheckedChanges => changes as CheckedChanges;

/** The part of a checked change that is journalled. */
export const journalled = (change: CheckedChange): InstanceChange => ({
  entitySchema: change.entitySchema,
  instanceId: change.instanceId,
  op: change.op,
  set: change.set,
  unset: change.unset,
  revision: change.revision,
});

/** Equal as JSON: order of keys does not matter, 0 and -0 are one number. Values are as deep as the JSON guard allows. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (!Array.isArray(a)) return !Array.isArray(b) && sameObjects(a, b);
  return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
}

function sameObjects(a: JsonObject, b: JsonObject): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/**
 * What turns one state into another: attributes to set and attributes to remove. `named` attributes are set even where
 * they stay the same, because the change mentioned them.
 */
export function differenceOf(
  before: JsonObject,
  after: JsonObject,
  named: ReadonlySet<string> = new Set(),
): { set: JsonObject; unset: string[] } {
  const set: JsonObject = {};
  for (const [attribute, value] of Object.entries(after)) {
    const had = Object.hasOwn(before, attribute);
    if (!had || named.has(attribute) || !sameJson(before[attribute], value)) set[attribute] = value;
  }
  return { set, unset: Object.keys(before).filter((attribute) => !Object.hasOwn(after, attribute)) };
}

/** The state after a change, `null` when it deleted. Throws RangeError for a change that cannot follow this state. */
export function foldChange(state: JsonObject | null, change: InstanceChange): JsonObject | null {
  if ((state === null) !== (change.op === 'create')) {
    throw new RangeError(`${change.op} of ${state === null ? 'an absent' : 'a present'} instance`);
  }
  if (change.op === 'delete') return null;
  const after = { ...state, ...change.set };
  for (const attribute of change.unset) delete after[attribute];
  return after;
}

/** An instance's full state is kept every so many revisions (docs/history.md). */
const KEPT_EVERY = 100;

/**
 * Whether the state is kept after a change: the past of an instance is never more than `KEPT_EVERY` changes
 * after one. A deletion gets one too, because revisions start at 1 again after it.
 */
export const hasKeptState = ({ op, revision }: InstanceChange): boolean =>
  op === 'delete' || revision % KEPT_EVERY === 0;

/** What an entry did, by instance: values as they stood after it, `null` for what it removed. */
export function stateChangesOf(changes: readonly InstanceChange[]): StateChangesView {
  const view: StateChangesView = {};
  for (const change of changes) view[changeKey(change)] = viewOf(change);
  return view;
}

function viewOf({ op, set, unset }: InstanceChange): JsonObject | null {
  if (op === 'delete') return null;
  if (unset.length === 0) return set;
  const view = { ...set };
  for (const attribute of unset) view[attribute] = null;
  return view;
}

declare const sealed: unique symbol;

/** A journal entry before it has its position in the chain. Its changes have been checked. */
export interface JournalEntryDraft
  extends Omit<
    HashedEntry,
    'v' | 'seq' | 'prevHash' | 'changes' | 'attestation' | 'error' | 'executedAt' | keyof Recorded
  > {
  changes: CheckedChanges;
  error: HashedEntry['error'];
  attestation: JsonObject | null;
  decidedAt: string;
  evaluator: number;
  /** What an entry of version 2 has only where the decision set it. */
  recorded?: Recorded | undefined;
}

/** An entry with its position in the chain: only `sealEntry` makes one, and it is never changed afterwards. */
export type SealedEntry = Readonly<HashedEntry> & {
  readonly hash: string;
  /** What the hash covers: the RFC 8785 JSON of the members of `HashedEntry`. */
  readonly text: string;
  /** The parts of `text` that are free JSON. */
  readonly inputText: string;
  readonly changesText: string;
  /** SHA-256 of the RFC 8785 JSON of `input`. */
  readonly inputHash: string;
  readonly [sealed]: true;
};

/** Where an entry stands in its journal, and in which form it is written. */
export interface EntryPosition {
  readonly v: JournalVersion;
  /** The head's plus one. */
  readonly seq: number;
  /** The head's hash. */
  readonly prevHash: string;
  /** The time of the commit, not before the head's; RFC 3339 in UTC with milliseconds. */
  readonly at: string;
}

/**
 * Gives a draft its position. In version 1 the time of the entry is that of its decision, or the head's if that is later.
 * Throws for a draft with members that version 1 has not.
 */
export function sealEntry(draft: JournalEntryDraft, position: EntryPosition): SealedEntry {
  const { v, seq, prevHash } = position;
  const inputText = canonicalJson(draft.input);
  const changes = draft.changes.map(journalled);
  const changesText = changesTextOf(changes);
  // Member by member: spreading an object of this size takes longer than hashing it.
  const entry = {
    v,
    deployment: draft.deployment,
    id: draft.id,
    seq,
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
    executedAt: position.at,
    prevHash,
    hash: '',
    text: '',
    inputText,
    changesText,
    inputHash: sha256Hex(inputText),
  } satisfies HashedEntry & Omit<SealedEntry, typeof sealed> as SealingEntry;
  addMembers(entry, draft);
  entry.text = entryText(entry, inputText, changesText);
  entry.hash = sha256Hex(entry.text);
  return entry as unknown as SealedEntry;
}

type SealingEntry = { -readonly [Member in keyof Omit<SealedEntry, typeof sealed>]: SealedEntry[Member] };

/** The members that version 2 adds. */
function addMembers(entry: SealingEntry, { decidedAt, evaluator, recorded }: JournalEntryDraft): void {
  if (entry.v === 2) {
    entry.decidedAt = decidedAt;
    entry.evaluator = evaluator;
    if (recorded !== undefined) Object.assign(entry, recorded);
  } else if (recorded !== undefined) throw new Error('an entry of version 1 cannot record this');
}

/** What an entry says of the answer of its execution. */
export type AnsweringEntry = Pick<
  HashedEntry,
  'id' | 'seq' | 'event' | 'eventVersion' | 'changes' | 'result' | 'attestation'
>;

/** The answer of an execution that succeeded, from its entry and the chains that it is pushed to. */
export const answerOf = (entry: AnsweringEntry, targetChains: readonly string[]): ExecutionAnswer => ({
  historyId: entry.id,
  seq: entry.seq,
  // An entry of an execution names both.
  event: entry.event ?? '',
  eventVersion: entry.eventVersion ?? 0,
  stateChanges: stateChangesOf(entry.changes),
  result: entry.result,
  attestation: entry.attestation as JsonObject | null,
  pushes: targetChains.map((chain) => ({ chain, status: 'queued' })),
});

/**
 * SHA-256 of the RFC 8785 JSON of a stored entry (docs/history.md "The hash chain"). Unlike `sealEntry` it does not
 * rely on the form of any member, so anything added to a stored entry changes the hash.
 */
export const hashOf = (entry: HashedEntry): string => canonicalHash(entry as unknown as JsonObject);

/** The `prevHash` of a deployment's first entry; both members as the deployment's record shows them. */
export const genesisHash = (origin: { deployment: string; source: DeploymentSource | null }): string =>
  canonicalHash({ deployment: origin.deployment, source: origin.source && { ...origin.source } });

/**
 * RFC 8785 text of what an entry's hash covers. The names of the members are known, so they are written here in their
 * canonical order and only free JSON is canonicalized: a third of the time of canonicalizing the whole entry.
 * `inputText` and `changesText` are the texts of the input and the changes, for a caller that has them.
 */
export const entryText = (
  entry: HashedEntry,
  inputText = canonicalJson(entry.input),
  changesText = changesTextOf(entry.changes),
): string =>
  `{"attestation":${jsonText(entry.attestation)}` +
  `,"caller":${JSON.stringify(entry.caller)}` +
  added('cause', entry.cause) +
  `,"changes":${changesText}` +
  (entry.decidedAt === undefined ? '' : `,"decidedAt":${plain(entry.decidedAt)}`) +
  `,"deployment":${plain(entry.deployment)}` +
  added('depth', entry.depth) +
  `,"error":${jsonText(entry.error as JsonObject | null)}` +
  added('evaluator', entry.evaluator) +
  `,"event":${JSON.stringify(entry.event)}` +
  `,"eventVersion":${entry.eventVersion}` +
  `,"executedAt":${plain(entry.executedAt)}` +
  `,"id":${plain(entry.id)}` +
  `,"input":${inputText}` +
  `,"kind":${plain(entry.kind)}` +
  `,"llmHash":${plain(entry.llmHash)}` +
  `,"paymentKey":${JSON.stringify(entry.paymentKey)}` +
  `,"prevHash":${plain(entry.prevHash)}` +
  added('randomness', entry.randomness) +
  added('readHistoryHash', entry.readHistoryHash) +
  added('replayOf', entry.replayOf) +
  `,"result":${jsonText(entry.result)}` +
  `,"seq":${entry.seq}` +
  `,"status":${plain(entry.status)}` +
  added('timers', entry.timers) +
  `,"trigger":${plain(entry.trigger)}` +
  `,"v":${entry.v}` +
  `,"versionHash":${plain(entry.versionHash)}}`;

const changesTextOf = (changes: readonly InstanceChange[]): string =>
  `[${changes.map(changeText).join(',')}]`;

const changeText = (change: InstanceChange): string =>
  `{"entitySchema":${JSON.stringify(change.entitySchema)}` +
  `,"instanceId":${JSON.stringify(change.instanceId)}` +
  `,"op":"${change.op}"` +
  `,"revision":${change.revision}` +
  `,"set":${canonicalJson(change.set)}` +
  `,"unset":${JSON.stringify(change.unset)}}`;

/** A member of version 2, which is left out where it is unset. */
const added = (name: string, value: unknown): string =>
  value === undefined ? '' : `,"${name}":${canonicalJson(value as JsonValue)}`;

/** Addresses, ids, hashes, times and the service's own words contain nothing to escape. */
const plain = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

const jsonText = (value: JsonValue): string => (value === null ? 'null' : canonicalJson(value));

/**
 * RFC 9562 version 7: 48 bits of milliseconds since the epoch, the rest random, so that ids sort by time. The random
 * part is that of a version 4, which the runtime makes from entropy in store.
 */
export function uuidV7(now: number, random: () => string = () => crypto.randomUUID()): string {
  const high = Math.floor(now / 0x10000);
  return `${hex16(high >>> 16)}${hex16(high)}-${hex16(now % 0x10000)}-7${random().slice(15)}`;
}

/** `toString(16)` of a number beyond 31 bits takes microseconds. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The lowest 16 bits as four digits. */
const hex16 = (number: number): string => `${HEX[(number >>> 8) & 255]}${HEX[number & 255]}`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be compared with a column of type uuid. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** Members of `llm` that hold the texts sent to a model and received from it, or quote them. */
export const LLM_TEXTS = ['request', 'response', 'reasons'];
