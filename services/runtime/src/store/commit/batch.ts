import type { JournalVersion } from '@orrery/contracts';
import { timestampOf } from '@orrery/service-kit';
import type { Insertable } from 'kysely';
import { indexedValue } from '../../core/queries/indexed-value.js';
import type { Lease } from '../leases/leases.js';
import { bindingRow } from '../state/bindings.js';
import type { DeploymentState, JournalHead } from '../state/deployment-state.js';
import type { MemoryInstance } from '../state/instance-memory.js';
import type { TimerRow } from '../state/timer-store.js';
import type { RuntimeSchema } from '../tables/schema.js';
import type { SettingsColumns } from './effects.js';
import type {
  BindingWrite,
  BuiltIndex,
  IndexedValueWrite,
  MovedTimer,
  NewEntry,
  OnceKeyWrite,
  PaymentWrite,
  RunWrite,
  TouchedInstance,
} from './writes.js';

/** What happens to the timers of one deployment. */
export const newTimerWrites = (partition: number) => ({
  partition,
  /** New ones, by id. */
  set: new Map<string, TimerRow>(),
  /** Others, by id. */
  moved: new Map<string, MovedTimer>(),
  /** The deployment is deleted, so all are cancelled. */
  areCancelled: false,
});
export type TimerWrites = ReturnType<typeof newTimerWrites>;

/** Everything that one commit writes. Each row is in it once, however many items change it. */
export const newBatch = (version: JournalVersion = 2) => ({
  /** Of its entries. */
  version,
  deployments: new Map<number, DeploymentState>(),
  /** By partition. */
  leases: new Map<number, Lease>(),
  /** The heads, before this batch, of the journals that get entries. */
  headsBefore: new Map<number, JournalHead>(),
  entries: [] as NewEntry[],
  touched: new Map<string, TouchedInstance>(),
  keptStates: [] as Insertable<RuntimeSchema['kept_states']>[],
  claims: [] as Insertable<RuntimeSchema['claimed_schemas']>[],
  keys: [] as Insertable<RuntimeSchema['idempotency_keys']>[],
  /** By the run's id. */
  runs: new Map<string, RunWrite>(),
  /** Columns of the deployments' rows. */
  settings: new Map<number, SettingsColumns>(),
  /** By deployment and event. */
  bindings: new Map<string, BindingWrite>(),
  /** By `onceKeyId`. */
  onceKeys: new Map<string, OnceKeyWrite>(),
  /** By the payment's key; one item writes a payment in a batch. */
  payments: new Map<string, PaymentWrite>(),
  /** By deployment. */
  timers: new Map<number, TimerWrites>(),
  /** By index and instance. */
  indexed: new Map<string, IndexedValueWrite>(),
  /** By index. */
  built: new Map<number, BuiltIndex>(),
  /** Rows of every kind, and their bytes of JSON, roughly. */
  rows: 0,
  bytes: 0,
});
export type Batch = ReturnType<typeof newBatch>;

/**
 * Everything that a commit writes belongs to an entry, to a step of a run or to an index that is being built. The last may
 * be written twice, so recovery looks for the others only.
 */
export const isEmpty = ({ entries, runs, built }: Batch): boolean =>
  entries.length === 0 && runs.size === 0 && built.size === 0;

/** What one commit takes, roughly; the rest waits for the next. One item may exceed it by itself. */
const MAX_ROWS = 1000;
const MAX_BYTES = 4 * 1024 * 1024;

export const isFull = ({ rows, bytes }: Batch): boolean => rows >= MAX_ROWS || bytes >= MAX_BYTES;

/** Identifies a once-key within a batch. */
export const onceKeyId = ({ scope, key }: { readonly scope: string; readonly key: string }): string =>
  `${scope} ${key}`;

export type BatchRows = ReturnType<typeof batchRows>;

/**
 * The parameters of the commit statement: rows as arrays of types; rows that fewer batches have, mostly as JSON; and the
 * inputs and changes of the entries, in their order, as lines of JSON, which has no line breaks. PostgreSQL reads this in
 * three fifths of the time that JSON objects take it, and lines need no quotes.
 */
export function batchRows(batch: Batch, instance: string) {
  const { entries } = batch;
  const { updated, created, removed } = instanceRows(batch);
  const runs = [...batch.runs].map(([id, write]) => ({ id, ...write }));
  const settings = [...batch.settings].map(([id, columns]) => ({ id, columns }));
  const bindings = [...batch.bindings.values()];
  const onceKeys = Object.groupBy(batch.onceKeys.values(), ({ kind }) => kind);
  const payments = Object.groupBy(batch.payments.values(), ({ kind }) => kind);
  return {
    instance,
    leases: JSON.stringify([...batch.leases.values()]),
    entries: rowArray(entries.map(entryRow)),
    inputs: entries.map(({ entry }) => entry.inputText).join('\n'),
    changes: entries.map(({ entry }) => entry.changesText).join('\n'),
    heads: headRows(batch),
    updated: rowArray(updated),
    touched: changeRows(batch),
    created: rowArray(created),
    removed: jsonRows(removed),
    keptStates: jsonRows(batch.keptStates),
    claims: jsonRows(batch.claims),
    keys: jsonRows(batch.keys),
    /** New runs, with the columns that the table would fill in by itself; then the steps of others. */
    accepted: jsonRows(runs.filter(({ from }) => from === null).map(newRun)),
    stepped: jsonRows(runs.filter(({ from }) => from !== null)),
    settings: jsonRows(settings),
    unbound: jsonRows(bindings.filter(({ binding }) => binding === null)),
    bound: jsonRows(
      bindings.flatMap(({ deployment_id, binding }) => (binding ? bindingRow(deployment_id, binding) : [])),
    ),
    onceClaimed: claimedKeyRows(batch),
    onceEnded: jsonRows(onceKeys.end),
    onceReleased: jsonRows(onceKeys.release),
    reserved: jsonRows(payments.reserve?.map(({ columns = {} }) => columns)),
    paid: jsonRows(payments.update),
    paymentsReleased: jsonRows(payments.release),
    ...indexRows(batch),
    ...timerRows(batch),
  };
}

/** Values as arrays of `indexed_values`; of those that are gone only the key counts. */
function indexRows({ indexed, built }: Batch) {
  if (indexed.size === 0 && built.size === 0) return { indexed: '{}', unindexed: '{}', built: '[]' };
  const rows = { indexed: [] as string[], unindexed: [] as string[] };
  for (const { indexId, instanceId, value } of indexed.values()) {
    const { kind, number, text } = indexedValue(value ?? null);
    const row = rowText([indexId, textField(instanceId), kind, number, textField(text)]);
    (value === undefined ? rows.unindexed : rows.indexed).push(row);
  }
  return {
    indexed: rowArray(rows.indexed),
    unindexed: rowArray(rows.unindexed),
    built: jsonRows([...built.values()]),
  };
}

/**
 * Of each deployment whose timers change, the earliest that is pending from now on, beside those that are in the table and
 * stay there.
 */
function timerRows({ timers }: Batch) {
  if (timers.size === 0)
    return { timersSet: '[]', timersMoved: '[]', timersCancelled: '[]', timerHeads: '[]' };
  const writes = [...timers];
  return {
    timersSet: jsonRows(writes.flatMap(([, { set }]) => [...set.values()])),
    timersMoved: jsonRows(
      writes.flatMap(([, { moved }]) =>
        [...moved].map(([id, { was, now, gone }]) => ({ id, was, now, gone })),
      ),
    ),
    timersCancelled: jsonRows(
      writes.flatMap(([id, { areCancelled }]) => (areCancelled ? { deployment_id: id } : [])),
    ),
    timerHeads: jsonRows(
      writes.map(([deployment_id, { partition, set, moved, areCancelled }]) => ({
        deployment_id,
        partition,
        earliest: areCancelled ? null : earliestOf(set.values(), moved.values()),
        without: `{${[...moved.keys()].join(',')}}`,
        cancelled: areCancelled,
      })),
    ),
  };
}

/** Texts of times in UTC with milliseconds are in the order of their times. */
function earliestOf(set: Iterable<TimerRow>, moved: Iterable<MovedTimer>): string | null {
  let earliest: string | null = null;
  const consider = (at: string) => {
    if (earliest === null || at < earliest) earliest = at;
  };
  for (const { due_at } of set) consider(due_at);
  for (const { dueAt } of moved) if (dueAt !== undefined) consider(dueAt);
  return earliest;
}

const newRun = ({ id, step, columns }: RunWrite & { readonly id: string }) => ({
  attempts: 1,
  holding: false,
  ...columns,
  id,
  step,
});

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

/** In the order of the members of `written_entry`. Hashes, ids, our own names and times need no quotes. */
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
    entry.decidedAt ?? '',
    entry.evaluator ?? '',
    jsonField(effects.entry.recorded),
    jsonField(effects.failedCode),
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

const jsonRows = (rows: readonly object[] = []): string => (rows.length === 0 ? '[]' : JSON.stringify(rows));

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
