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
 * `inputText` is that of the input, for a caller that has it.
 */
export const entryText = (entry: HashedEntry, inputText = canonicalJson(entry.input)): string =>
  `{"attestation":${jsonText(entry.attestation)}` +
  `,"caller":${JSON.stringify(entry.caller)}` +
  `,"changes":[${entry.changes.map(changeText).join(',')}]` +
  `,"deployment":${JSON.stringify(entry.deployment)}` +
  `,"error":${jsonText(entry.error as JsonObject | null)}` +
  `,"event":${JSON.stringify(entry.event)}` +
  `,"eventVersion":${JSON.stringify(entry.eventVersion)}` +
  `,"executedAt":${JSON.stringify(entry.executedAt)}` +
  `,"id":${JSON.stringify(entry.id)}` +
  `,"input":${inputText}` +
  `,"kind":${JSON.stringify(entry.kind)}` +
  `,"llmHash":${JSON.stringify(entry.llmHash)}` +
  `,"paymentKey":${JSON.stringify(entry.paymentKey)}` +
  `,"prevHash":${JSON.stringify(entry.prevHash)}` +
  `,"result":${jsonText(entry.result)}` +
  `,"seq":${entry.seq}` +
  `,"status":${JSON.stringify(entry.status)}` +
  `,"trigger":${JSON.stringify(entry.trigger)}` +
  `,"v":${entry.v}` +
  `,"versionHash":${JSON.stringify(entry.versionHash)}}`;

const changeText = (change: InstanceChange): string =>
  `{"entitySchema":${JSON.stringify(change.entitySchema)}` +
  `,"instanceId":${JSON.stringify(change.instanceId)}` +
  `,"op":"${change.op}"` +
  `,"revision":${change.revision}` +
  `,"set":${canonicalJson(change.set)}` +
  `,"unset":${JSON.stringify(change.unset)}}`;

const jsonText = (value: JsonValue): string => (value === null ? 'null' : canonicalJson(value));
