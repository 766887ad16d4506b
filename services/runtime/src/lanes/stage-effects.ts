import type { IdBlocks } from '../ids/id-blocks.js';
import { type CheckedChange, hasCheckpoint } from '../journal/change.js';
import { type SealedEntry, sealEntry } from '../journal/entry.js';
import type { Batch } from '../state/batch.js';
import type { DeploymentState, JournalHead } from '../state/deployment-state.js';
import type { Effects } from '../state/effects.js';
import type { RunEffect } from '../state/open-run.js';

/** How many new ids the effects will take. */
export const idsFor = ({ entry }: Effects): number =>
  entry.changes.filter(({ op }) => op === 'create').length;

/**
 * Takes what an item decided into the batch and into the deployment's state, so that the next item sees it. The sealed
 * entry has its place in the journal from here on. The caller has made sure that ids and claims are there.
 */
export function stageEffects(
  batch: Batch,
  state: DeploymentState,
  effects: Effects,
  ids: IdBlocks,
  at: Date,
): SealedEntry {
  const entry = sealEntry(effects.entry, { seq: state.head.seq + 1, prevHash: state.head.hash });
  batch.deployments.set(state.id, state);
  batch.leases.set(state.partition, { partition: state.partition, epoch: state.epoch });
  batch.entries.push({ deploymentId: state.id, entry, effects });
  for (const change of effects.entry.changes) stageChange(batch, state, change, entry.seq, ids, at);
  state.head = headAfter(state.head, entry, effects);
  stageRare(batch, state, effects);
  return entry;
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
  const place = `${state.id}:${entitySchema}:${instanceId}`;
  const before = batch.touched.get(place);
  if (before === undefined) {
    const touched = { state, entitySchema, instanceId, existedBefore: op !== 'create', recreated: false };
    batch.touched.set(place, touched);
  } else if (op === 'create') before.recreated = before.existedBefore;
  if (hasCheckpoint(change)) {
    const checkpoint = {
      deploymentId: state.id,
      entitySchema,
      instanceId,
      seq,
      revision,
      state: change.state,
    };
    batch.checkpoints.push(checkpoint);
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

/** Schemas of which the effects create instances although the catalog does not know yet. */
export function unclaimedBy({ entry }: Effects, state: DeploymentState): string[] {
  const created = entry.changes.filter(({ op }) => op === 'create').map(({ entitySchema }) => entitySchema);
  return [...new Set(created)].filter((schema) => !state.claimedSchemas.has(schema));
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

/** A step of a run: the next item sees what it holds from here on. */
export function stageRun(batch: Batch, state: DeploymentState, run: RunEffect): void {
  batch.deployments.set(state.id, state);
  batch.leases.set(state.partition, { partition: state.partition, epoch: state.epoch });
  batch.rare.push({ deploymentId: state.id, run });
  if (run.open === null) state.runs.delete(run.id);
  else state.runs.set(run.id, run.open);
}
