import {
  canonicalJson,
  type HashedEntry,
  type InstanceChange,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';

/**
 * RFC 8785 text of what an entry's hash covers. The names of the members are known, so they stand here in their
 * canonical order, and only what is free JSON is canonicalized: a third of the time of doing it for the whole.
 * `inputText` and `changesText` are those of the input and the changes, for a caller that has them.
 */
export const entryText = (
  entry: HashedEntry,
  inputText = canonicalJson(entry.input),
  changesText = changesTextOf(entry.changes),
): string =>
  `{"attestation":${jsonText(entry.attestation)}` +
  `,"caller":${JSON.stringify(entry.caller)}` +
  `,"changes":${changesText}` +
  `,"deployment":${plain(entry.deployment)}` +
  `,"error":${jsonText(entry.error as JsonObject | null)}` +
  `,"event":${JSON.stringify(entry.event)}` +
  `,"eventVersion":${entry.eventVersion}` +
  `,"executedAt":${plain(entry.executedAt)}` +
  `,"id":${plain(entry.id)}` +
  `,"input":${inputText}` +
  `,"kind":${plain(entry.kind)}` +
  `,"llmHash":${plain(entry.llmHash)}` +
  `,"paymentKey":${JSON.stringify(entry.paymentKey)}` +
  `,"prevHash":${plain(entry.prevHash)}` +
  `,"result":${jsonText(entry.result)}` +
  `,"seq":${entry.seq}` +
  `,"status":${plain(entry.status)}` +
  `,"trigger":${plain(entry.trigger)}` +
  `,"v":${entry.v}` +
  `,"versionHash":${plain(entry.versionHash)}}`;

/** RFC 8785 text of an entry's changes. */
export const changesTextOf = (changes: readonly InstanceChange[]): string =>
  `[${changes.map(changeText).join(',')}]`;

const changeText = (change: InstanceChange): string =>
  `{"entitySchema":${JSON.stringify(change.entitySchema)}` +
  `,"instanceId":${JSON.stringify(change.instanceId)}` +
  `,"op":"${change.op}"` +
  `,"revision":${change.revision}` +
  `,"set":${canonicalJson(change.set)}` +
  `,"unset":${JSON.stringify(change.unset)}}`;

/** Addresses, ids, hashes, times and words of our own have nothing to escape. */
const plain = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

const jsonText = (value: JsonValue): string => (value === null ? 'null' : canonicalJson(value));
