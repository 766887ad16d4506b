import {
  type CallContext,
  type ErrorCode,
  executionErrorOf,
  type InstanceChange,
  isEvaluator,
  type ReplayAnswer,
  type RequestOf,
  ServiceError,
  type whatIfRpcs,
} from '@orrery/contracts';
import { type KeyedRequest, keyedRequest } from '@orrery/database';
import { compileSchema } from '@orrery/deciding';
import { callerNamed, patched, recordedFacts, replayableOf } from '../../core/deciding/replayed-entry.js';
import { refuseUnknownModel } from '../../core/prompting/model.js';
import { keyedItem } from '../../lane/items/once-item.js';
import type { WorkItem } from '../../lane/items/work-item.js';
import type { OwnedHandlers } from '../../lane/ownership/route-to-owner.js';
import { execute } from '../../runs/execute/execute.js';
import { deploymentAt, type KnownDeployment } from '../../store/deployments/deployment-directory.js';
import { entryById, entryBySeq, type ShownRow, toHistoryEntry } from '../../store/journal/journal-store.js';
import type { RuntimeContext } from '../context.js';
import { changeItem, createItem } from '../instances/handlers.js';

type Changes = RequestOf<(typeof whatIfRpcs)['deployments.replay']>['body'];

/**
 * An entry of the source, done again in its what-if fork. The recorded input and facts are read here, so that whoever
 * replays cannot make others up: who called, by what, and the time that templates see.
 */
export const replays = (context: RuntimeContext): OwnedHandlers<typeof whatIfRpcs> => ({
  'deployments.replay': async (fork, { headers, body }, call) => {
    refuseUnknownModel(context.models, body.aiModelId);
    const source = await sourceOf(context, fork, call);
    const original = await entryBySeq(context.db, source.id, body.seq);
    if (original === undefined) throw new ServiceError('history_entry_not_found');
    const key = headers['idempotency-key'];
    const keyed = keyedRequest(`replay ${fork.id}`, key, body, call.caller, context.clock.now());
    return { data: await replay(context, { fork, source, original, changes: body, keyed }, call) };
  },
});

/** @throws `what_if_only`, `unknown_deployment` where the source is gone */
async function sourceOf(
  { access, directory }: RuntimeContext,
  { worldAddress, address }: KnownDeployment,
  { caller }: CallContext,
): Promise<KnownDeployment> {
  const row = await access.visible({ worldAddress, address }, caller);
  if (row.is_kept === null || row.source === null) throw new ServiceError('what_if_only', ONLY);
  const path = { worldAddress, address: row.source.address };
  await access.visible(path, caller).catch(() => {
    throw new ServiceError(
      'unknown_deployment',
      'The source of the fork is deleted, or lives in another database.',
    );
  });
  return deploymentAt(directory, row.source.address);
}

const ONLY =
  'Entries are replayed in a what-if fork: create a deployment with "purpose": "what_if", "sourceDeployment" and "sourceSeq".';

interface Replayed {
  readonly fork: KnownDeployment;
  readonly source: KnownDeployment;
  readonly original: ShownRow;
  readonly changes: Changes;
  readonly keyed: KeyedRequest | undefined;
}

async function replay(context: RuntimeContext, replayed: Replayed, call: CallContext): Promise<ReplayAnswer> {
  const { fork, original } = replayed;
  const what = replayableOf(original);
  const { seq } = original;
  if (what.kind === 'nothing') return { seq, outcome: 'skipped', entry: null, error: null };
  try {
    const id = await (what.kind === 'write'
      ? writeAgain(context, replayed, what.change, call)
      : executeAgain(context, replayed, what, call));
    const row = await entryById(context.db, fork.id, id, { withTexts: true, withCode: true });
    if (row === undefined) throw new ServiceError('history_entry_not_found');
    const outcome = what.kind === 'write' ? 'written' : 'executed';
    return { seq, outcome, entry: toHistoryEntry(row, fork.address), error: null };
  } catch (error) {
    if (!(error instanceof ServiceError) || !REFUSALS.has(error.code)) throw error;
    return { seq, outcome: 'refused', entry: null, error: executionErrorOf(error) };
  }
}

/** Before anything is read a fork refuses what its version or its state does not take; any other error is the caller's. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'invalid_input',
  'mutation_missing',
  'unknown_event_version',
  'unknown_entity_schema',
  'entity_instance_exists',
  'entity_instance_not_found',
  'invalid_state',
  'limit_reached',
  'change_too_large',
  'prompt_too_large',
]);

/** @returns the id of the entry, also of one that failed */
async function executeAgain(
  context: RuntimeContext,
  { fork, source, original, changes, keyed }: Replayed,
  { event, eventVersion }: { readonly event: string; readonly eventVersion: number },
  call: CallContext,
): Promise<string> {
  const { caller, ...facts } = recordedFacts(original);
  const evaluator = original.evaluator ?? undefined;
  const request = {
    ...facts,
    deploymentId: fork.id,
    event,
    input: changes.input ?? original.input,
    replay: {
      eventVersion: changes.eventVersion ?? eventVersion,
      // A version that is named is meant as it is now, also where it is the recorded one.
      ...(changes.eventVersion === undefined && { versionHash: original.versionHash ?? undefined }),
      deployment: source.address,
      timestamp: (original.decidedAt ?? original.executedAt).toISOString(),
      aiModelId: changes.aiModelId ?? askedModel(context, original),
      entry: {
        deploymentId: source.id,
        seq: original.seq,
        executedAt: original.executedAt.toISOString(),
      },
      seed: original.recorded?.randomness?.seed,
      ...(isEvaluator(evaluator) && { evaluator }),
    },
  };
  try {
    const answer = await execute(context, request, { keyed, asynchronous: false }, { ...call, caller });
    if ('historyId' in answer) return answer.historyId;
    throw new ServiceError('unavailable', undefined, { facts: { ...answer } });
  } catch (error) {
    const { historyId } = error instanceof ServiceError ? error.facts : {};
    if (typeof historyId === 'string') return historyId;
    throw error;
  }
}

/** The model that was asked, while it is offered. */
function askedModel({ models }: RuntimeContext, { llm }: ShownRow): string | null {
  const asked = llm?.['model'];
  return models.offered.find(({ record }) => record.modelId === asked)?.record.modelId ?? null;
}

/** An update does to the instance what the entry did, so that what differs in the fork stays different. */
async function writeAgain(
  { catalog, ...context }: RuntimeContext,
  { fork, original, keyed }: Replayed,
  change: InstanceChange,
  call: CallContext,
): Promise<string> {
  const { entitySchema, instanceId, op } = change;
  const as = { ...call, caller: callerNamed(original.caller) };
  const name = { entitySchema, instanceId };
  const state = op === 'delete' ? null : (before: Parameters<typeof patched>[0]) => patched(before, change);
  const asThen = { ...context, catalog: unchecked(catalog) };
  const item =
    op === 'create'
      ? createItem(asThen, fork, as, { ...name, state: change.set })
      : changeItem(asThen, fork, as, name, { state });
  return context.lanes.submit(keyedItem(context.db, withEntryId(item), keyed));
}

/**
 * A recorded write was checked, and completed, by its schema of then. Its attributes satisfied that one by one, so they do
 * beside others too; the schema of now says nothing of them.
 */
const unchecked = (catalog: RuntimeContext['catalog']): RuntimeContext['catalog'] => ({
  ...catalog,
  schema: async (worldId, name) => {
    const schema = await catalog.schema(worldId, name);
    return schema && compileSchema({ ...schema.definition, attributes: [] });
  },
});

/** Answers with the id of the entry that it leaves. */
const withEntryId = <T>(item: WorkItem<T>): WorkItem<string> => ({
  ...item,
  decide: (state, ids, now) => {
    const outcome = item.decide(state, ids, now);
    if (outcome.kind === 'commit') return { ...outcome, answer: ({ id }) => ({ reply: id }) };
    if (outcome.kind === 'answer' || outcome.kind === 'record')
      throw new ServiceError('internal', 'a write has left no entry');
    return outcome;
  },
});
