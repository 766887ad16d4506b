import {
  asServiceError,
  type JsonObject,
  type JsonValue,
  ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import { placeOf } from '../idempotency/answer-once.js';
import type { IdBlocks } from '../ids/id-blocks.js';
import type { SealedEntry } from '../journal/entry.js';
import { NotOwner } from '../ownership/not-owner.js';
import { type Batch, isEmpty, newBatch } from '../state/batch.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { Effects, KeyedEffect } from '../state/effects.js';
import { mustWait } from '../state/holds.js';
import type { RunEffect } from '../state/open-run.js';
import type { ResidentStates } from '../state/resident-states.js';
import { roughSize } from '../state/rough-size.js';
import type { ItemNeeds, ItemOutcome } from '../state/work-item.js';
import { type QueuedItem, reasonToDrop } from './queued-item.js';
import { idsFor, stageEffects, stageRun, unclaimedBy } from './stage-effects.js';

/** Entries and bytes that one commit takes; what is left waits for the next. */
const MAX_ENTRIES = 500;
const MAX_BYTES = 4 * 1024 * 1024;

/** What became of an item: told to the one who waits once the batch is committed. */
export type Settlement = { readonly reply: unknown } | { readonly error: unknown };

export interface DecidedBatch {
  readonly batch: Batch;
  readonly settled: readonly { readonly queued: QueuedItem; readonly settlement: Settlement }[];
  /** To be prepared again. */
  readonly unready: readonly QueuedItem[];
  /** To wait for a run that holds something. */
  readonly blocked: readonly QueuedItem[];
}

export interface DecideDependencies {
  readonly states: ResidentStates;
  readonly ids: IdBlocks;
  readonly now: () => number;
}

/**
 * Decides items in their order, each against what the one before it left, until the queue is empty or the batch is
 * full; takes from the queue what it decides. Items of deployments that are `uncommitted` stay: what the one before them
 * left may not come about. An item that must be alone is.
 */
export function decideBatch(
  dependencies: DecideDependencies,
  queue: QueuedItem[],
  uncommitted: ReadonlySet<number>,
): DecidedBatch {
  const decided = {
    batch: newBatch(),
    settled: [] as { queued: QueuedItem; settlement: Settlement }[],
    unready: [] as QueuedItem[],
    blocked: [] as QueuedItem[],
  };
  const staying: QueuedItem[] = [];
  let seen = 0;
  for (const queued of queue) {
    const { batch } = decided;
    if (batch.entries.length >= MAX_ENTRIES || batch.bytes >= MAX_BYTES) break;
    const stays = uncommitted.has(queued.item.deploymentId);
    if (queued.alone && !stays && !isEmpty(batch)) break;
    seen += 1;
    if (stays) {
      staying.push(queued);
      continue;
    }
    const settlement = decideOne(dependencies, queued, batch);
    if (settlement === 'unready') decided.unready.push(queued);
    else if (settlement === 'blocked') decided.blocked.push(queued);
    else decided.settled.push({ queued, settlement });
    if (queued.alone) break;
  }
  const unseen = queue.splice(seen);
  queue.length = 0;
  for (const queued of [...staying, ...unseen]) queue.push(queued);
  return decided;
}

function decideOne(
  { states, ids, now }: DecideDependencies,
  queued: QueuedItem,
  batch: Batch,
): Settlement | 'unready' | 'blocked' {
  const { state, item } = queued;
  const at = now();
  const reason = reasonToDrop(queued, at);
  if (reason !== undefined) return { error: reason };
  if (state === undefined || !states.isCurrent(state)) return 'unready';
  // The item that deleted it came before this one.
  if (state.row.deleted_at !== null) return { error: new ServiceError('deployment_not_found') };
  try {
    const decision = readyOr(item.decide(state, ids, at), state, ids);
    return settle(decision, { queued, state, batch, ids, at: new Date(at) });
  } catch (error) {
    return { error: error instanceof NotOwner ? error : asServiceError(error) };
  }
}

/** A commit also needs ids and claims for the instances that it creates. */
function readyOr<T>(decision: ItemOutcome<T>, state: DeploymentState, ids: IdBlocks): ItemOutcome<T> {
  if (decision.kind !== 'commit') return decision;
  const { effects } = decision;
  if (state.runs.size > 0 && mustWait(effects, state.runs, effects.run?.id)) return { kind: 'wait' };
  const claims = unclaimedBy(decision.effects, state);
  if (claims.length > 0) return { kind: 'needs', needs: { claims } };
  const count = idsFor(decision.effects);
  return ids.has(count) ? decision : { kind: 'needs', needs: { ids: count } };
}

interface Place {
  readonly queued: QueuedItem;
  readonly state: DeploymentState;
  readonly batch: Batch;
  readonly ids: IdBlocks;
  readonly at: Date;
}

function settle(decision: ItemOutcome<unknown>, place: Place): Settlement | 'unready' | 'blocked' {
  switch (decision.kind) {
    case 'needs':
      return unready(place.queued, decision.needs);
    case 'prepare':
      return unready(place.queued, undefined);
    case 'wait':
      return 'blocked';
    case 'answer':
      return { reply: decision.answer };
    case 'refuse':
      return { error: decision.error };
    case 'record':
      stageRun(place.batch, place.state, decision.run);
      return decision.settlement;
    case 'commit':
      return commit(decision, place);
  }
}

function unready(queued: QueuedItem, needs: ItemNeeds | undefined): 'unready' {
  queued.needs = needs;
  return 'unready';
}

function commit(
  { effects, answer }: Extract<ItemOutcome<unknown>, { kind: 'commit' }>,
  { state, batch, ids, at }: Place,
): Settlement {
  const entry = stageEffects(batch, state, effects, ids, at);
  batch.bytes += roughBytes(entry, effects);
  const settlement = answer(entry);
  if (effects.key !== undefined) stageKey(batch, state, effects.key, settlement, at);
  if (effects.run !== undefined) stageRun(batch, state, endedWith(effects.run, settlement));
  return settlement;
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
  const kept = 'error' in settlement ? { error: toErrorReply(asServiceError(settlement.error)) } : settlement;
  const reply = key.answer === undefined ? (kept as unknown as JsonValue) : { reply: key.answer };
  batch.keys.push({ ...key, reply, at });
  state.keys.set(placeOf(key), { requestHash: key.requestHash, reply });
  const [oldest] = state.keys.keys();
  if (state.keys.size > KEYS_IN_MEMORY && oldest !== undefined) state.keys.delete(oldest);
}

/** A run's row keeps what its last item answered. */
function endedWith(run: RunEffect, settlement: Settlement): RunEffect {
  const outcome =
    'error' in settlement
      ? { state: 'failed' as const, error: toErrorReply(asServiceError(settlement.error)) as JsonObject }
      : { state: 'succeeded' as const, reply: settlement.reply as JsonValue };
  return { ...run, write: { update: { ...('update' in run.write && run.write.update), ...outcome } } };
}

/** What an entry costs beside its JSON. */
const ENTRY_BYTES = 1000;

function roughBytes({ text }: SealedEntry, { entry }: Effects): number {
  const states = entry.changes.reduce((sum, { state }) => sum + (state === null ? 0 : roughSize(state)), 0);
  return ENTRY_BYTES + 2 * text.length + states;
}
