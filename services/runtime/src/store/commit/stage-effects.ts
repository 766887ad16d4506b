import {
  asServiceError,
  type JsonObject,
  type JsonValue,
  type ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import { type CheckedChange, hasKeptState, type SealedEntry, sealEntry } from '@orrery/deciding';
import { timestampOf } from '@orrery/service-kit';
import { type Binding, type DeploymentState, type JournalHead, keyIdOf } from '../state/deployment-state.js';
import type { IdBlocks } from '../state/id-blocks.js';
import { roughSize } from '../state/instance-memory.js';
import { type Batch, onceKeyId } from './batch.js';
import type { Effects, KeyedEffect, OnceKeyEffect, PaymentEffect, RunEffect } from './effects.js';
import { type BuiltValues, stageBuiltValues, stageIndexedValues } from './stage-indexes.js';
import { stageAllTimers, stageTimers } from './stage-timers.js';
import type { OnceKeyWrite } from './writes.js';

/** The outcome of an item; its caller gets it once the batch is committed. */
export type Settlement = { readonly reply: unknown } | { readonly error: unknown };

/** Schemas of created instances. */
export const schemasCreatedBy = ({ entry }: Pick<Effects, 'entry'>): string[] => [
  ...new Set(entry.changes.filter(({ op }) => op === 'create').map(({ entitySchema }) => entitySchema)),
];

export interface Staged {
  readonly effects: Effects;
  readonly answer: (entry: SealedEntry) => Settlement;
}

/**
 * Takes the effects of an item into the batch and into the deployment's state, so that the next item sees them. The
 * entry is sealed here: its `seq` and hash are final. The caller has made sure that ids and claims are there.
 */
export function stageEffects(
  batch: Batch,
  state: DeploymentState,
  { effects, answer }: Staged,
  ids: IdBlocks,
  at: Date,
  trace?: string,
): Settlement {
  if (effects.before !== undefined) stageBefore(batch, state, effects.before, ids, at);
  const { seq, hash, executedAt } = state.head;
  const { version: v } = batch;
  // Before version 2 an entry had the time of its decision.
  let time = v === 2 ? timestampOf(at.getTime()) : effects.entry.decidedAt;
  // Texts of times are in the order of their times.
  if (time < executedAt) time = executedAt;
  const position = { v, seq: seq + 1, prevHash: hash, at: time };
  const entry = sealEntry(effects.entry, position);
  stageDeployment(batch, state);
  if (!batch.headsBefore.has(state.id)) batch.headsBefore.set(state.id, state.head);
  batch.entries.push({ deploymentId: state.id, entry, effects, trace });
  count(batch, 1 + effects.entry.changes.length, ENTRY_ROW_BYTES + 2 * entry.text.length);
  for (const change of effects.entry.changes) stageChange(batch, state, change, entry.seq, ids, at);
  state.head = headAfter(state.head, entry, effects);
  state.instances.recent.add(entry);
  stageSettings(batch, state, effects);
  stageBindings(batch, state, effects);
  const settlement = answer(entry);
  if (effects.key !== undefined) stageKey(batch, state, effects.key, settlement, entry, at);
  if (effects.onceKeys !== undefined)
    stageOnceKeys(batch, state, effects.onceKeys, {
      settlement,
      at,
      bytes: entry.text.length,
      seq: entry.seq,
    });
  if (effects.run !== undefined) stageRun(batch, state, withOutcome(effects.run, settlement));
  if (effects.payment !== undefined) stagePayment(batch, effects.payment, entry.seq);
  if (effects.timers !== undefined)
    count(batch, stageTimers(batch, state, effects.timers, entry), entry.text.length);
  if (effects.row !== undefined) stageAllTimers(batch, state);
  return settlement;
}

/** An entry that nobody waits for. */
export const stageBefore = (
  batch: Batch,
  state: DeploymentState,
  effects: Effects,
  ids: IdBlocks,
  at: Date,
): void => void stageEffects(batch, state, { effects, answer: () => ({ reply: undefined }) }, ids, at);

/** Counts rows and the bytes of their JSON: both bound the batch. */
function count(batch: Batch, rows: number, bytes: number): void {
  batch.rows += rows;
  batch.bytes += bytes;
}

/** The commit checks the lease of every deployment that it changes. */
function stageDeployment(batch: Batch, state: DeploymentState): void {
  batch.deployments.set(state.id, state);
  batch.leases.set(state.partition, { partition: state.partition, epoch: state.epoch });
}

/** Rough cost of a row in a commit beside its JSON, in bytes. */
const ROW_BYTES = 200;

/** The same for an entry. It is what a commit writes, not the memory that `lane/publication` bounds. */
const ENTRY_ROW_BYTES = 1000;

function stageChange(
  batch: Batch,
  state: DeploymentState,
  change: CheckedChange,
  seq: number,
  ids: IdBlocks,
  at: Date,
): void {
  const { entitySchema, instanceId, op, revision } = change;
  const key = `${state.id}:${entitySchema}:${instanceId}`;
  const before = batch.touched.get(key);
  if (before === undefined) {
    const touched = { state, entitySchema, instanceId, existedBefore: op !== 'create', recreated: false };
    batch.touched.set(key, touched);
  } else if (op === 'create') before.recreated = before.existedBefore;
  const bytes = change.state === null ? 0 : roughSize(change.state);
  count(batch, 0, bytes);
  if (hasKeptState(change)) {
    count(batch, 1, bytes);
    const name = { deployment_id: state.id, entity_schema: entitySchema, instance_id: instanceId };
    batch.keptStates.push({ ...name, seq, revision, state: change.state });
  }
  if (op === 'create') stageClaim(batch, state, entitySchema);
  state.instances.apply(change, at, op === 'create' ? ids.next() : undefined);
  if (state.indexes.length > 0) count(batch, stageIndexedValues(batch, state, change), 0);
}

/** An index that is being built gets values. */
export function stageBuild(batch: Batch, state: DeploymentState, built: BuiltValues): void {
  stageDeployment(batch, state);
  count(batch, stageBuiltValues(batch, built), 0);
}

/** The first instance of a schema commits the claim on it, or a run that will create it. */
export function stageClaim(batch: Batch, state: DeploymentState, entitySchema: string): void {
  const claim = state.claimedSchemas.get(entitySchema);
  if (claim === undefined) throw new Error('an instance was created of a schema that was not claimed');
  if (claim.committed) return;
  state.claimedSchemas.set(entitySchema, { ...claim, committed: true });
  count(batch, 1, ROW_BYTES);
  batch.claims.push({
    deployment_id: state.id,
    entity_schema: entitySchema,
    schema_id: claim.schemaId,
    claim_revision: claim.revision,
  });
}

function headAfter(
  { totals }: JournalHead,
  entry: SealedEntry,
  { entry: { changes } }: Effects,
): JournalHead {
  const counted: Record<string, number> = { ...totals };
  counted['entries'] = entry.seq;
  const add = (name: string, by: number) => {
    counted[name] = (counted[name] ?? 0) + by;
  };
  if (entry.kind === 'execution') add(`${entry.trigger}_${entry.status}`, 1);
  for (const { op } of changes) {
    if (op === 'create') add('instances', 1);
    if (op === 'delete') add('instances', -1);
  }
  return { seq: entry.seq, hash: entry.hash, executedAt: entry.executedAt, totals: counted };
}

function stageSettings(batch: Batch, state: DeploymentState, { row }: Effects): void {
  if (row === undefined) return;
  count(batch, 1, ROW_BYTES + roughSize(row as unknown as JsonObject));
  batch.settings.set(state.id, { ...batch.settings.get(state.id), ...row });
  // Columns as they will be read back: every writer gives Dates for times.
  state.row = { ...state.row, ...(row as Partial<typeof state.row>) };
}

function stageBindings(batch: Batch, state: DeploymentState, { bindings }: Effects): void {
  if (bindings === undefined) return;
  const bound = new Map(state.bindings);
  const write = (event: string, binding: Binding | null) => {
    count(batch, 1, ROW_BYTES);
    batch.bindings.set(`${state.id} ${event}`, { deployment_id: state.id, event, binding });
  };
  for (const event of bindings.remove) {
    write(event, null);
    bound.delete(event);
  }
  for (const binding of bindings.put) {
    write(binding.event, binding);
    bound.set(binding.event, binding);
  }
  state.bindings = bound;
}

/**
 * Nothing was decided: a failure of the service, or one that may pass. Repeated with its key, the request is executed. A
 * model that gave no valid proposal has decided, as often as it is asked.
 */
const isUndecided = ({ code, retryable }: ServiceError): boolean =>
  code === 'internal' || (retryable && code !== 'ai_output_invalid');

/** Stores the answer of a key. Repetitions get it from now on, also those later in the same batch. */
function stageKey(
  batch: Batch,
  state: DeploymentState,
  key: KeyedEffect,
  settlement: Settlement,
  { text }: SealedEntry,
  at: Date,
): void {
  if ('error' in settlement && isUndecided(asServiceError(settlement.error))) return;
  const reply = key.answer === undefined ? storedAnswer(settlement) : { reply: key.answer };
  // The answer repeats what the entry says.
  const bytes = ROW_BYTES + text.length;
  count(batch, 1, bytes);
  batch.keys.push({
    account_id: key.accountId,
    operation: key.operation,
    key: key.key,
    request_hash: key.requestHash,
    reply,
    created_at: at,
  });
  const answer = { requestHash: key.requestHash, reply, at: at.getTime(), bytes: 2 * bytes };
  state.keys.add(keyIdOf(key), answer, batch.headsBefore.get(state.id)?.seq ?? 0);
}

const storedAnswer = (settlement: Settlement): JsonValue =>
  ('error' in settlement
    ? { error: toErrorReply(asServiceError(settlement.error)) }
    : settlement) as unknown as JsonValue;

interface KeyOutcome {
  readonly settlement: Settlement;
  readonly at: Date;
  /** What the answer takes where it is stored, roughly. */
  readonly bytes: number;
  /** Of the item's entry, if it has one. */
  readonly seq?: number;
}

/** Claims, ends or releases once-keys: none that the batch has already written, and a claimed one must be free. */
export function stageOnceKeys(
  batch: Batch,
  state: DeploymentState,
  effects: readonly OnceKeyEffect[],
  outcome: KeyOutcome,
): void {
  for (const effect of effects) {
    const { scope, key } = effect;
    if (scope === 'message') state.messages.add(key, outcome.at.getTime());
    const write = onceKeyWrite(effect, state.id, outcome);
    count(batch, 1, ROW_BYTES + (isInEntry(write) ? 0 : outcome.bytes));
    batch.onceKeys.set(onceKeyId(effect), write);
  }
}

const isInEntry = (write: OnceKeyWrite): boolean => write.kind === 'claim' && write.columns.seq !== null;

function onceKeyWrite(
  effect: OnceKeyEffect,
  deploymentId: number,
  { settlement, at, seq }: KeyOutcome,
): OnceKeyWrite {
  const { kind, scope, key } = effect;
  if (kind === 'release') return { kind, scope, key };
  const { expiresAt: expires_at } = effect;
  if (kind === 'end') return { kind, scope, key, columns: { expires_at, reply: storedAnswer(settlement) } };
  const { requestHash: request_hash, runId: run_id } = effect;
  // The entry of a message says the answer, unless it failed: `once-store.ts` makes it of the entry.
  const answeredAt = run_id === null && scope === 'message' && 'reply' in settlement ? (seq ?? null) : null;
  const columns = {
    request_hash,
    deployment_id: deploymentId,
    run_id,
    reply: run_id === null && answeredAt === null ? storedAnswer(settlement) : null,
    seq: answeredAt,
    created_at: at,
    expires_at,
  };
  return { kind, scope, key, columns };
}

/** A payment's row changes together with the row of its run. `seq` is that of the run's entry, once it has one. */
export function stagePayment(batch: Batch, payment: PaymentEffect, seq?: number): void {
  const { kind, key } = payment;
  const columns = kind === 'release' ? {} : payment.columns;
  count(batch, 1, ROW_BYTES + roughSize(columns as JsonObject));
  const written = kind === 'update' && seq !== undefined ? { ...columns, seq } : columns;
  batch.payments.set(key, { kind, key, columns: written });
}

/** Steps of a run under this many consecutive epochs have different numbers. */
const DISTINCT_EPOCHS = 1000;

/**
 * The number of the step after this one. It depends on the owner's epoch: when two owners continue from one row and only
 * one of them succeeds, the row shows whose step it holds.
 */
export const stepAfter = (step: number, epoch: number): number => step + 1 + (epoch % DISTINCT_EPOCHS);

/** A step of a run. The next item already sees what the run holds after it. */
export function stageRun(batch: Batch, state: DeploymentState, { id, open, write }: RunEffect): void {
  stageDeployment(batch, state);
  const columns = 'insert' in write ? write.insert : write.update;
  count(batch, 1, ROW_BYTES + roughSize(columns as JsonObject));
  const from = 'insert' in write ? null : stepOf(state, id);
  const step = from === null ? 0 : stepAfter(from, state.epoch);
  const before = batch.runs.get(id);
  batch.runs.set(
    id,
    before === undefined
      ? { deploymentId: state.id, from, step, columns }
      : { ...before, step, columns: { ...before.columns, ...columns } },
  );
  if (open === null) state.runs.delete(id);
  else state.runs.set({ ...open, step });
}

function stepOf({ runs }: DeploymentState, id: string): number {
  const run = runs.get(id);
  if (run === undefined) throw new Error('a step was taken of a run that is not open');
  return run.step;
}

/** The last step of a run: its row also stores the reply or the error of the item. */
function withOutcome(run: RunEffect, settlement: Settlement): RunEffect {
  const outcome =
    'error' in settlement
      ? { state: 'failed' as const, error: toErrorReply(asServiceError(settlement.error)) as JsonObject }
      : { state: 'succeeded' as const, reply: settlement.reply as JsonValue };
  return { ...run, write: { update: { ...('update' in run.write && run.write.update), ...outcome } } };
}
