import { asServiceError, type JournalVersion, ServiceError } from '@orrery/contracts';
import { changeKey, type JournalEntryDraft } from '@orrery/deciding';
import { type Batch, isEmpty, isFull, newBatch, onceKeyId } from '../../store/commit/batch.js';
import type { Effects } from '../../store/commit/effects.js';
import {
  type Settlement,
  schemasCreatedBy,
  stageBefore,
  stageBuild,
  stageClaim,
  stageEffects,
  stageOnceKeys,
  stagePayment,
  stageRun,
} from '../../store/commit/stage-effects.js';
import { stageTimerMove } from '../../store/commit/stage-timers.js';
import { NotOwner } from '../../store/leases/leases.js';
import {
  type DeploymentState,
  type HoldName,
  type OpenRuns,
  ofInstance,
  ofSchema,
  TURN_TO_STAGE,
  timeAfter,
  WHAT_RUNS,
} from '../../store/state/deployment-state.js';
import type { IdBlocks } from '../../store/state/id-blocks.js';
import type { ItemOutcome } from '../items/work-item.js';
import {
  type LaneParts,
  type QueuedItem,
  reasonToDrop,
  type WaitingItems,
  type WaitsFor,
} from './queued-items.js';
import { tailLost } from './resident-states.js';

/**
 * What an item has to wait for: an instance that it changes is held by a run, or it changes bindings, mode or pauses
 * while a run waits for its payment (docs/execution.md). `own` is the run that the item is a step of.
 *
 * @throws `deployment_busy` for a deletion while a payment settles
 */
export function mustWait(effects: Effects, runs: OpenRuns, own: string | undefined): HoldName | undefined {
  const isHeld = runs.isHeld(WHAT_RUNS, own);
  if (effects.row?.deleted_at != null && (isHeld || runs.awaiting > 0))
    throw new ServiceError(
      'deployment_busy',
      'A payment is being settled: delete the deployment in a few minutes.',
    );
  if (isHeld && changesWhatRuns(effects)) return WHAT_RUNS;
  for (const change of effects.entry.changes) {
    const names = [ofInstance(changeKey(change)), ofSchema(change.entitySchema)];
    for (const name of names) if (runs.isHeld(name, own)) return name;
  }
  return undefined;
}

/** Columns that decide what the deployment executes, and whether it does. */
const RUNNING = ['mode', 'owner_paused', 'operator_paused', 'account_paused'] as const;

const changesWhatRuns = ({ row, bindings }: Effects): boolean =>
  bindings !== undefined || (row !== undefined && RUNNING.some((column) => row[column] !== undefined));

/** What has become of the items of a batch. */
const noneDecided = (version: JournalVersion) => ({
  batch: newBatch(version),
  /** Their callers are answered once the batch is committed. */
  settled: [] as { readonly queued: QueuedItem; readonly settlement: Settlement }[],
  /** To be prepared again. */
  unready: [] as QueuedItem[],
  /** To wait for a run that holds something. */
  waiting: [] as { readonly queued: QueuedItem; readonly waitsFor: WaitsFor }[],
});
export type DecidedBatch = ReturnType<typeof noneDecided>;

/**
 * For how long one batch is decided, in milliseconds: the item that passes this is its last. Meanwhile the process renews no
 * lease and serves no other. 500 common executions, which fill a batch, take some 13 ms.
 */
const SLICE_MS = 20;

type DecidingParts = Pick<LaneParts, 'states' | 'ids' | 'lostTails' | 'journalForm' | 'clock'>;

/**
 * Decides items in their order, each against the state that the one before it left, until the queue is empty, the batch is
 * full or its time is over. It removes the items that it decides from the queue. Some are to stay: the state of their
 * deployment depends on a commit that may fail, or a follow-up comes before them. An isolated item gets a batch of its own.
 */
export function decideBatch(
  parts: DecidingParts,
  isAwaited: WaitingItems['isAwaited'],
  queue: QueuedItem[],
  isToStay: (queued: QueuedItem) => boolean,
): DecidedBatch {
  const decided = noneDecided(parts.journalForm.version);
  const staying: QueuedItem[] = [];
  const until = parts.clock.monotonic() + SLICE_MS;
  let last: QueuedItem | undefined;
  let failed: { readonly queued: QueuedItem; readonly error: unknown } | undefined;
  let seen = 0;
  for (const queued of queue) {
    const { batch } = decided;
    if (isFull(batch)) break;
    const stays = isToStay(queued);
    if (queued.isolated && !stays && !isEmpty(batch)) break;
    seen += 1;
    if (stays) {
      staying.push(queued);
      continue;
    }
    const settlement = decideOne(parts, isAwaited, queued, batch);
    if (settlement !== 'unready' && queued.item.turn !== undefined)
      queued.state?.timers.next.delete(queued.item.turn);
    if (settlement === 'unready') decided.unready.push(queued);
    else if ('halfStaged' in settlement) failed = { queued, error: settlement.halfStaged };
    else if ('name' in settlement) decided.waiting.push({ queued, waitsFor: settlement });
    else decided.settled.push({ queued, settlement });
    if (parts.clock.monotonic() >= until) last = queued;
    if (last !== undefined || queued.isolated || failed !== undefined) break;
  }
  const unseen = queue.splice(seen);
  queue.length = 0;
  for (const one of othersFirst([...staying, ...unseen], last)) queue.push(one);
  return failed === undefined ? decided : withoutBatch(parts, decided, failed.queued, failed.error);
}

/**
 * Who had the last item that there was time for has had its turn: other accounts come first, then other deployments of this
 * account. The items of each deployment stay in their order.
 */
function othersFirst(queue: readonly QueuedItem[], last: QueuedItem | undefined): readonly QueuedItem[] {
  if (last === undefined) return queue;
  const account = last.state?.row.owner_account_id;
  const rank = ({ item, state }: QueuedItem) => {
    if (item.deploymentId === last.item.deploymentId) return 2;
    return state?.row.owner_account_id === account ? 1 : 0;
  };
  return queue.toSorted((one, other) => rank(one) - rank(other));
}

/** An item threw while it was staged: the batch and the states in it hold a part of its effects. */
interface HalfStaged {
  readonly halfStaged: unknown;
}

/**
 * The batch is not committed. What is in memory of its deployments is forgotten, and all items that were decided for it
 * are decided again, but the one that was staged by half: it gets its error.
 */
function withoutBatch(
  { states }: DecidingParts,
  { batch, settled, unready, waiting }: DecidedBatch,
  failed: QueuedItem,
  error: unknown,
): DecidedBatch {
  for (const id of [...batch.deployments.keys(), failed.item.deploymentId]) states.forget(id);
  const again = [...settled, ...waiting].map(({ queued }) => queued);
  return {
    ...noneDecided(batch.version),
    settled: [{ queued: failed, settlement: { error: asServiceError(error) } }],
    unready: [...unready, ...again],
  };
}

function decideOne(
  { states, ids, lostTails, clock }: DecidingParts,
  isAwaited: WaitingItems['isAwaited'],
  queued: QueuedItem,
  batch: Batch,
): Settlement | 'unready' | WaitsFor | HalfStaged {
  const { state } = queued;
  const reason = reasonToDrop(queued, clock.monotonic());
  if (reason !== undefined) return { error: reason };
  if (state === undefined || !states.isCurrent(state)) return 'unready';
  // An earlier item deleted it.
  if (state.row.deleted_at !== null) return { error: new ServiceError('deployment_not_found') };
  const at = timeAfter(state.head, clock.now());
  const lost = lostTails.endLostBy(state);
  try {
    if (lost !== undefined) stageEffects(batch, state, tailLost(state, lost, at), ids, new Date(at));
    const deciding = { queued, state, batch, ids, at, isAwaited };
    const outcome = outcomeOf(deciding);
    return 'kind' in outcome ? settle(outcome, deciding) : outcome;
  } catch (error) {
    return { halfStaged: error };
  }
}

interface Deciding {
  readonly queued: QueuedItem;
  readonly state: DeploymentState;
  readonly batch: Batch;
  readonly ids: IdBlocks;
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** Whether an earlier item still waits for this, or has been called for it and not settled yet. */
  readonly isAwaited: WaitingItems['isAwaited'];
}

/** What the item decides, or must wait for. What it throws settles it: nothing was staged. */
function outcomeOf(deciding: Deciding): ItemOutcome<unknown> | { readonly error: unknown } {
  const { queued, state, ids, at } = deciding;
  try {
    return deferUnlessReady(queued.item.decide(state, ids, at), deciding);
  } catch (error) {
    return { error: error instanceof NotOwner ? error : asServiceError(error) };
  }
}

/**
 * The outcome itself, or what must happen before the item can be decided for good: the batch that writes the same
 * once-key ends, a run releases what it holds, an item that waits longer has its turn, or ids and claims for new
 * instances arrive.
 */
function deferUnlessReady<T>(
  outcome: ItemOutcome<T>,
  { state, batch, ids, isAwaited }: Deciding,
): ItemOutcome<T> {
  if (batch.version === 1) refuseRecorded(outcome);
  if (writesSameKey(outcome, batch)) return { kind: 'prepare' };
  if (outcome.kind === 'record')
    return stages(outcome, state) && isAwaited(state.id, WHAT_RUNS)
      ? { kind: 'wait', for: TURN_TO_STAGE, toHold: false }
      : (missingClaims(outcome.claims ?? [], state) ?? outcome);
  if (outcome.kind !== 'commit') return outcome;
  const { effects } = outcome;
  const held = state.runs.size > 0 ? mustWait(effects, state.runs, effects.run?.id) : undefined;
  if (held !== undefined) return { kind: 'wait', for: held, toHold: false };
  const created = effects.entry.changes.filter(({ op }) => op === 'create');
  if (created.length === 0) return outcome;
  const missing = missingClaims(schemasCreatedBy(effects), state);
  if (missing !== undefined) return missing;
  return ids.has(created.length) ? outcome : { kind: 'needs', needs: { ids: created.length } };
}

/** Entries of version 1 cannot say what a decision adds to them (docs/operations.md "Upgrades"). */
function refuseRecorded<T>(outcome: ItemOutcome<T>): void {
  const entry = outcome.kind === 'commit' ? outcome.effects.entry : stagedEntryOf(outcome);
  if (entry?.recorded !== undefined)
    throw new ServiceError('unavailable', 'The service is being upgraded: try again once that is finished.');
}

/** The entry that a run stores to commit it later (`runs/steps/settle-run.ts`). */
function stagedEntryOf<T>(outcome: ItemOutcome<T>): Partial<JournalEntryDraft> | undefined {
  if (outcome.kind !== 'record' || !('update' in outcome.run.write)) return undefined;
  const staged = outcome.run.write.update.staged as { entry?: Partial<JournalEntryDraft> } | null | undefined;
  return staged?.entry;
}

/** What waits for the catalog's claims on those of the schemas for which it holds none of this deployment yet. */
function missingClaims(schemas: readonly string[], { claimedSchemas }: DeploymentState) {
  const claims = schemas.filter((schema) => !claimedSchemas.has(schema));
  return claims.length === 0 ? undefined : { kind: 'needs' as const, needs: { claims } };
}

/** Whether a run is staged by this, and from then on holds what the deployment runs. */
const stages = (
  { run }: Extract<ItemOutcome<unknown>, { kind: 'record' }>,
  { runs }: DeploymentState,
): boolean => run.open?.staged === true && runs.get(run.id)?.staged !== true;

/** Whether the batch has written a once-key that this outcome writes too: it is decided again after that commit. */
function writesSameKey<T>(outcome: ItemOutcome<T>, { onceKeys }: Batch): boolean {
  if (onceKeys.size === 0 || (outcome.kind !== 'commit' && outcome.kind !== 'record')) return false;
  const effects = outcome.kind === 'commit' ? outcome.effects : outcome;
  return effects.onceKeys?.some((effect) => onceKeys.has(onceKeyId(effect))) ?? false;
}

/** A step without an entry answers with the id of its run, or with an error. */
const SMALL_ANSWER_BYTES = 1000;

function settle(
  outcome: ItemOutcome<unknown>,
  { queued, state, batch, ids, at }: Deciding,
): Settlement | 'unready' | WaitsFor {
  switch (outcome.kind) {
    case 'needs':
      queued.needs = outcome.needs;
      return 'unready';
    case 'prepare':
      queued.needs = undefined;
      return 'unready';
    case 'wait':
      return { name: outcome.for, toHold: outcome.toHold };
    case 'answer':
      if (outcome.built !== undefined) stageBuild(batch, state, outcome.built);
      return { reply: outcome.answer };
    case 'refuse':
      return { error: outcome.error };
    case 'record':
      if (outcome.before !== undefined) stageBefore(batch, state, outcome.before, ids, new Date(at));
      stageRun(batch, state, outcome.run);
      if (outcome.onceKeys !== undefined)
        stageOnceKeys(batch, state, outcome.onceKeys, {
          settlement: outcome.settlement,
          at: new Date(at),
          bytes: SMALL_ANSWER_BYTES,
        });
      for (const schema of outcome.claims ?? []) stageClaim(batch, state, schema);
      if (outcome.payment !== undefined) stagePayment(batch, outcome.payment);
      if (outcome.timer !== undefined) stageTimerMove(batch, state, outcome.timer);
      return outcome.settlement;
    case 'commit':
      return stageEffects(batch, state, outcome, ids, new Date(at), queued.trace);
  }
}
