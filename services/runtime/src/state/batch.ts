import { asServiceError, type JsonObject, type JsonValue, toErrorReply } from '@orrery/contracts';
import type { Updateable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';
import type { IdBlocks } from '../ids/id-blocks.js';
import { type CheckedChange, hasCheckpoint } from '../journal/change.js';
import { type SealedEntry, sealEntry } from '../journal/entry.js';
import type { Lease } from '../ownership/partitions.js';
import { type Binding, type DeploymentState, type JournalHead, keyIdOf } from './deployment-state.js';
import type { Effects, KeyedEffect, RunEffect } from './effects.js';
import { roughSize } from './instance-memory.js';

/** An instance that the batch touches; its row is written once, as the last item leaves it. */
export interface TouchedInstance {
  readonly state: DeploymentState;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly existedBefore: boolean;
  /** Deleted and created again within the batch, so its row gets a new id. */
  recreated: boolean;
}

/** An instance's full state, stored beside the journal. */
export interface Checkpoint {
  readonly deploymentId: number;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly seq: number;
  readonly revision: number;
  readonly state: JsonValue;
}

/** Rare effects, each written by a statement of its own, in the order in which they were decided. */
export type RareEffect = { readonly deploymentId: number } & (
  | { readonly row: Updateable<RuntimeTables['deployments']> }
  | { readonly putBinding: Binding }
  | { readonly removeBinding: string }
  | { readonly run: RunEffect }
);

/** Everything that one database commit writes. */
export interface Batch {
  readonly deployments: Map<number, DeploymentState>;
  readonly leases: Map<number, Lease>;
  readonly entries: {
    readonly deploymentId: number;
    readonly entry: SealedEntry;
    readonly effects: Effects;
  }[];
  readonly touched: Map<string, TouchedInstance>;
  readonly checkpoints: Checkpoint[];
  readonly claims: {
    readonly deploymentId: number;
    readonly entitySchema: string;
    readonly schemaId: number;
  }[];
  readonly keys: (KeyedEffect & { readonly reply: JsonValue; readonly at: Date })[];
  readonly rare: RareEffect[];
  /** Bytes of the entries' JSON, roughly. */
  bytes: number;
}

export const newBatch = (): Batch => ({
  deployments: new Map(),
  leases: new Map(),
  entries: [],
  touched: new Map(),
  checkpoints: [],
  claims: [],
  keys: [],
  rare: [],
  bytes: 0,
});

export const isEmpty = ({ entries, rare }: Batch): boolean => entries.length === 0 && rare.length === 0;

/** What became of an item; its caller is answered with it once the batch is committed. */
export type Settlement = { readonly reply: unknown } | { readonly error: unknown };

/** How many new ids the effects will take. */
export const idsFor = ({ entry }: Effects): number =>
  entry.changes.filter(({ op }) => op === 'create').length;

/** Schemas of which the effects create instances although the catalog does not know yet. */
export function unclaimedBy({ entry }: Effects, state: DeploymentState): string[] {
  const created = entry.changes.filter(({ op }) => op === 'create').map(({ entitySchema }) => entitySchema);
  return [...new Set(created)].filter((schema) => !state.claimedSchemas.has(schema));
}

interface Staged {
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
): Settlement {
  const entry = sealEntry(effects.entry, { seq: state.head.seq + 1, prevHash: state.head.hash });
  stageDeployment(batch, state);
  batch.entries.push({ deploymentId: state.id, entry, effects });
  batch.bytes += roughBytes(entry, effects);
  for (const change of effects.entry.changes) stageChange(batch, state, change, entry.seq, ids, at);
  state.head = headAfter(state.head, entry, effects);
  stageRare(batch, state, effects);
  const settlement = answer(entry);
  if (effects.key !== undefined) stageKey(batch, state, effects.key, settlement, at);
  if (effects.run !== undefined) stageRun(batch, state, endedWith(effects.run, settlement));
  return settlement;
}

/** A step of a run: the next item sees what the run holds from here on. */
export function stageRun(batch: Batch, state: DeploymentState, run: RunEffect): void {
  stageDeployment(batch, state);
  batch.rare.push({ deploymentId: state.id, run });
  if (run.open === null) state.runs.delete(run.id);
  else state.runs.set(run.id, run.open);
}

/** The commit checks the lease of every deployment that it changes. */
function stageDeployment(batch: Batch, state: DeploymentState): void {
  batch.deployments.set(state.id, state);
  batch.leases.set(state.partition, { partition: state.partition, epoch: state.epoch });
}

/** What an entry costs beside its JSON. */
const ENTRY_BYTES = 1000;

function roughBytes({ text }: SealedEntry, { entry }: Effects): number {
  const states = entry.changes.reduce((sum, { state }) => sum + (state === null ? 0 : roughSize(state)), 0);
  return ENTRY_BYTES + 2 * text.length + states;
}

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
  if (hasCheckpoint(change)) {
    batch.checkpoints.push({
      deploymentId: state.id,
      entitySchema,
      instanceId,
      seq,
      revision,
      state: change.state,
    });
  }
  if (op === 'create') stageClaim(batch, state, entitySchema);
  state.instances.apply(change, at, op === 'create' ? ids.next() : undefined);
}

/** The first instance of a schema commits the claim on it. */
function stageClaim(batch: Batch, state: DeploymentState, entitySchema: string): void {
  const claim = state.claimedSchemas.get(entitySchema);
  if (claim === undefined) throw new Error('an instance was created of a schema that was not claimed');
  if (claim.committed) return;
  state.claimedSchemas.set(entitySchema, { ...claim, committed: true });
  batch.claims.push({ deploymentId: state.id, entitySchema, schemaId: claim.schemaId });
}

function headAfter(
  { totals }: JournalHead,
  entry: SealedEntry,
  { entry: { changes } }: Effects,
): JournalHead {
  const counted: Record<string, number> = { ...totals };
  counted['entries'] = entry.seq;
  if (entry.kind === 'execution') count(counted, `${entry.trigger}_${entry.status}`, 1);
  for (const { op } of changes) {
    if (op === 'create') count(counted, 'instances', 1);
    if (op === 'delete') count(counted, 'instances', -1);
  }
  return { seq: entry.seq, hash: entry.hash, totals: counted };
}

function count(totals: Record<string, number>, name: string, by: number): void {
  totals[name] = (totals[name] ?? 0) + by;
}

function stageRare(batch: Batch, state: DeploymentState, { row, bindings }: Effects): void {
  const deploymentId = state.id;
  if (row !== undefined) {
    batch.rare.push({ deploymentId, row });
    // Columns as they will be read back: every writer gives Dates for times.
    state.row = { ...state.row, ...(row as Partial<typeof state.row>) };
  }
  if (bindings === undefined) return;
  const bound = new Map(state.bindings);
  for (const event of bindings.remove) {
    batch.rare.push({ deploymentId, removeBinding: event });
    bound.delete(event);
  }
  for (const binding of bindings.put) {
    batch.rare.push({ deploymentId, putBinding: binding });
    bound.set(binding.event, binding);
  }
  state.bindings = bound;
}

/** Keys whose answers are in memory per deployment; older ones are found in the database. */
const KEYS_IN_MEMORY = 10_000;

/** A repetition is answered from here on, also within the same batch. */
function stageKey(
  batch: Batch,
  state: DeploymentState,
  key: KeyedEffect,
  settlement: Settlement,
  at: Date,
): void {
  const stored =
    'error' in settlement ? { error: toErrorReply(asServiceError(settlement.error)) } : settlement;
  const reply = key.answer === undefined ? (stored as unknown as JsonValue) : { reply: key.answer };
  batch.keys.push({ ...key, reply, at });
  state.keys.set(keyIdOf(key), { requestHash: key.requestHash, reply });
  const [oldest] = state.keys.keys();
  if (state.keys.size > KEYS_IN_MEMORY && oldest !== undefined) state.keys.delete(oldest);
}

/** A run's row stores what its last item answered. */
function endedWith(run: RunEffect, settlement: Settlement): RunEffect {
  const outcome =
    'error' in settlement
      ? { state: 'failed' as const, error: toErrorReply(asServiceError(settlement.error)) as JsonObject }
      : { state: 'succeeded' as const, reply: settlement.reply as JsonValue };
  return { ...run, write: { update: { ...('update' in run.write && run.write.update), ...outcome } } };
}
