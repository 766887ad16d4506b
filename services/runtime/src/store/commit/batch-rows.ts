import { timestampOf } from '@orrery/service-kit';
import { bindingRow } from '../state/bindings.js';
import type { MemoryInstance } from '../state/instance-memory.js';
import type { Batch, OnceKeyWrite, TouchedInstance } from './batch.js';

/**
 * The parameters of the commit statement, in the order of its `$1`, `$2` …, which `commit-statement.ts` lists: first rows
 * as arrays of types, then rows that fewer batches have, mostly as JSON.
 */
export function batchRows(batch: Batch, instance: string): string[] {
  const { updated, created, removed } = instanceRows(batch);
  return [
    instance,
    JSON.stringify([...batch.leases.values()]),
    ...entryRows(batch),
    headRows(batch),
    rowArray(updated),
    changeRows(batch),
    rowArray(created),
    ...[removed, checkpointRows(batch), batch.claims, keyRows(batch)].map(jsonRows),
    ...[...runRows(batch), settingRows(batch), ...bindingRows(batch)].map(jsonRows),
    claimedKeyRows(batch),
    ...[...onceKeyRows(batch), ...paymentRows(batch)].map(jsonRows),
  ];
}

function instanceRows({ touched }: Batch) {
  const rows = { updated: [] as string[], created: [] as string[], removed: [] as object[] };
  for (const one of touched.values()) {
    const now = one.state.instances.get(one.entitySchema, one.instanceId) ?? null;
    if (now !== null) (one.existedBefore ? rows.updated : rows.created).push(stateRow(one, now));
    else if (one.existedBefore) rows.removed.push(nameOf(one));
  }
  return rows;
}

const nameOf = ({ state, entitySchema, instanceId }: TouchedInstance) => ({
  deployment_id: state.id,
  entity_schema: entitySchema,
  instance_id: instanceId,
});

const checkpointRows = ({ checkpoints }: Batch) =>
  checkpoints.map(({ deploymentId, entitySchema, instanceId, seq, revision, state }) => ({
    deployment_id: deploymentId,
    entity_schema: entitySchema,
    instance_id: instanceId,
    seq,
    revision,
    state,
  }));

const keyRows = ({ keys }: Batch) =>
  keys.map(({ accountId, operation, key, requestHash, reply, at }) => ({
    account_id: accountId,
    operation,
    key,
    request_hash: requestHash,
    reply,
    created_at: at,
  }));

/** New runs, with the columns that the table would fill in by itself; then the steps of others. */
function runRows({ runs }: Batch): object[][] {
  const rows = { inserted: [] as object[], updated: [] as object[] };
  for (const [id, { from, step, columns }] of runs) {
    if (from === null) rows.inserted.push({ attempts: 1, holding: false, ...columns, id, step });
    else rows.updated.push({ id, from, step, columns });
  }
  return [rows.inserted, rows.updated];
}

const settingRows = ({ settings }: Batch): object[] =>
  [...settings].map(([id, columns]) => ({ id, columns }));

/** Bindings that are removed; then those that are put, of which only an event's own row may be replaced. */
function bindingRows({ bindings }: Batch): object[][] {
  const rows = { removed: [] as object[], put: [] as object[] };
  for (const { deploymentId, event, binding } of bindings.values()) {
    if (binding === null) rows.removed.push({ deployment_id: deploymentId, event });
    else rows.put.push(bindingRow(deploymentId, binding));
  }
  return [rows.removed, rows.put];
}

function claimedKeyRows({ onceKeys }: Batch): string {
  const rows: string[] = [];
  for (const write of onceKeys.values()) if (write.kind === 'claim') rows.push(claimedKeyRow(write));
  return rowArray(rows);
}

const claimedKeyRow = ({ scope, key, columns }: Extract<OnceKeyWrite, { kind: 'claim' }>): string =>
  rowText([
    scope,
    textField(key),
    columns.request_hash,
    columns.deployment_id,
    columns.run_id ?? '',
    jsonField(columns.reply),
    columns.seq ?? '',
    columns.created_at.toISOString(),
    columns.expires_at?.toISOString() ?? '',
  ]);

/** Once-keys whose columns change; those that are released. */
function onceKeyRows({ onceKeys }: Batch): object[][] {
  const rows = { ended: [] as object[], released: [] as object[] };
  for (const { scope, key, ...write } of onceKeys.values()) {
    if (write.kind === 'end') rows.ended.push({ scope, key, columns: write.columns });
    else if (write.kind === 'release') rows.released.push({ scope, key });
  }
  return [rows.ended, rows.released];
}

/** Payments that are reserved; those whose columns change; reservations that are released. */
function paymentRows({ payments }: Batch): object[][] {
  const rows = { reserved: [] as object[], updated: [] as object[], released: [] as object[] };
  for (const payment of payments.values()) {
    const { kind, key } = payment;
    if (kind === 'reserve') rows.reserved.push({ ...payment.columns, key });
    else if (kind === 'update') rows.updated.push({ key, columns: payment.columns });
    else rows.released.push({ key });
  }
  return [rows.reserved, rows.updated, rows.released];
}

type NewEntry = Batch['entries'][number];

/**
 * The entries as an array of the type `new_entry`, then their inputs and their changes as lines of JSON, which has no
 * line breaks. PostgreSQL reads this in three fifths of the time that JSON objects take it, and lines need no quotes.
 */
const entryRows = ({ entries }: Batch): string[] => [
  rowArray(entries.map(entryRow)),
  entries.map(({ entry }) => entry.inputText).join('\n'),
  entries.map(({ entry }) => entry.changesText).join('\n'),
];

/** In the order of the type's members. Hashes, ids, our own names and times need no quotes. */
const entryRow = ({ deploymentId, entry, effects }: NewEntry): string =>
  rowText([
    deploymentId,
    entry.deployment,
    entry.seq,
    entry.id,
    entry.v,
    entry.kind,
    textField(entry.event),
    entry.eventVersion ?? '',
    entry.versionHash ?? '',
    entry.trigger ?? '',
    textField(entry.caller),
    entry.status ?? '',
    jsonField(entry.result),
    jsonField(entry.error),
    entry.llmHash ?? '',
    jsonField(entry.attestation),
    textField(entry.paymentKey),
    entry.executedAt,
    entry.prevHash,
    entry.hash,
    jsonField(effects.llm),
    jsonField(effects.pushes),
    effects.durationMs ?? '',
  ]);

/** The journal heads that move, and where they were before, as an array of the type `next_head`. */
function headRows({ deployments, headsBefore }: Batch): string {
  const rows: string[] = [];
  for (const [id, before] of headsBefore) {
    const head = deployments.get(id)?.head;
    if (head !== undefined)
      rows.push(rowText([id, head.seq, head.hash, jsonField(head.totals), before.seq, before.hash]));
  }
  return rowArray(rows);
}

function changeRows({ entries }: Batch): string {
  const rows: string[] = [];
  for (const { deploymentId, entry } of entries) {
    for (const { entitySchema, instanceId } of entry.changes)
      rows.push(rowText([deploymentId, textField(entitySchema), textField(instanceId), entry.seq]));
  }
  return rowArray(rows);
}

/** An instance as it is now, for an array of the type `new_state`. An empty id or time of creation leaves the row's own. */
function stateRow(
  { state, entitySchema, instanceId, existedBefore, recreated }: TouchedInstance,
  now: MemoryInstance,
): string {
  const isNew = !existedBefore || recreated;
  return rowText([
    state.id,
    textField(entitySchema),
    textField(instanceId),
    jsonField(now.state),
    now.revision,
    timestampOf(now.updatedAt.getTime()),
    isNew ? now.id : '',
    isNew ? timestampOf(now.createdAt.getTime()) : '',
  ]);
}

const rowArray = (rows: readonly string[]): string => `{${rows.join(',')}}`;

const jsonRows = (rows: readonly object[]): string => (rows.length === 0 ? '[]' : JSON.stringify(rows));

/** Whether `rowArray` or `jsonRows` made this of any rows. */
export const hasRows = (rows: string): boolean => rows !== '{}' && rows !== '[]';

/** A row inside an array, as PostgreSQL reads both from text; its fields were made by `textField` or need no quotes. */
export const rowText = (fields: readonly (string | number)[]): string => `"(${fields.join(',')})"`;

/** A field of any text, for `rowText`: quoted for the row, and that again for the array. Null is an empty field. */
export function textField(text: string | null): string {
  if (text === null) return '';
  const backslashed = text.includes('\\') ? text.replaceAll('\\', '\\\\\\\\') : text;
  return `\\"${backslashed.replaceAll('"', '\\"\\"')}\\"`;
}

/** JSON's null and `undefined` become SQL's null. */
export const jsonField = (value: unknown): string =>
  textField(value === null || value === undefined ? null : JSON.stringify(value));
