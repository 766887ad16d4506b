import { type Cancellation, ServiceError } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { KeyedMutex } from '@orrery/service-kit';
import type { ClaimSchemas } from '../catalog/catalog-client.js';
import type { IdBlocks } from '../ids/id-blocks.js';
import { NotOwner, partitionOf } from '../ownership/partitions.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { InstanceLoader } from '../state/load-instances.js';
import type { ResidentStates } from '../state/resident-states.js';
import type { ItemNeeds, WorkItem } from '../state/work-item.js';

/** An item in its lane, with its progress and the callbacks that answer its caller. */
export interface QueuedItem {
  readonly item: WorkItem<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Of the request, if it is recorded. */
  readonly trace: string | undefined;
  /**
   * `committing`: it was decided, and its batch is being committed. `released`: its caller was sent to another owner, so
   * it is never decided here.
   */
  stage: 'undecided' | 'committing' | 'released';
  /** What was missing when it was last decided. */
  needs: ItemNeeds | undefined;
  /** The deployment's state that it was prepared against. */
  state: DeploymentState | undefined;
  /** A batch with it failed: it is committed alone, so that it cannot make other items fail. */
  isolated: boolean;
  /** How often it broke a unique constraint when it was committed alone. */
  violations: number;
  /** How often it has been prepared since it was submitted or last waited. */
  preparations: number;
}

/** An item that is not ready after this many preparations is refused: it may never become ready. */
const MAX_PREPARATIONS = 50;

/**
 * Why an item is refused undecided: another process owns it, its caller waits no longer, or it does not become ready. `at`
 * by the monotonic clock.
 */
export function reasonToDrop({ item, preparations, stage }: QueuedItem, at: number): Error | undefined {
  if (stage === 'released') return new NotOwner(partitionOf(item.deploymentId));
  if (item.signal.aborted) return abortReason(item.signal);
  if (at >= item.deadline) return new ServiceError('deadline_exceeded');
  if (preparations > MAX_PREPARATIONS)
    return new ServiceError('overloaded', 'The deployment changes too fast to decide.');
  return undefined;
}

export const abortReason = ({ reason }: Cancellation): ServiceError =>
  reason instanceof ServiceError
    ? reason
    : new ServiceError('deadline_exceeded', undefined, { cause: reason });

/** What the caller is refused with: NotOwner goes to the router, an unknown error becomes `internal`. */
export const refusalOf = (error: unknown): unknown =>
  error instanceof NotOwner ? error : toCallError(error);

export interface PrepareDependencies {
  readonly states: ResidentStates;
  readonly instances: InstanceLoader;
  readonly ids: IdBlocks;
  readonly claimSchemas: ClaimSchemas;
  readonly claimMutex: KeyedMutex;
}

/** Loads into memory what an item needs; items are prepared concurrently. @throws NotOwner, `deployment_not_found` */
export async function prepareItem(dependencies: PrepareDependencies, queued: QueuedItem): Promise<void> {
  const { states } = dependencies;
  const state = await states.get(queued.item.deploymentId);
  if (state === undefined || state.row.deleted_at !== null) throw new ServiceError('deployment_not_found');
  if (queued.needs !== undefined && queued.state === state)
    await fetchNeeds(dependencies, state, queued.needs);
  else await queued.item.prepare(state);
  queued.needs = undefined;
  queued.state = state;
  queued.preparations += 1;
}

/** Earlier preparations against the same state stay valid: only the missing parts are fetched. */
async function fetchNeeds(
  { instances, ids, claimSchemas, claimMutex }: PrepareDependencies,
  state: DeploymentState,
  needs: ItemNeeds,
): Promise<void> {
  await Promise.all([
    ...(needs.instances ?? []).map((name) => instances.loadOne(state.id, state.instances, name)),
    ...(needs.schemas ?? []).map((schema) => instances.loadSchema(state.id, state.instances, schema)),
    needs.ids === undefined ? undefined : ids.refill(needs.ids),
    needs.claims && claimMutex.run(state.id, () => claimAll(claimSchemas, state, needs.claims ?? [])),
  ]);
}

async function claimAll(
  claimSchemas: ClaimSchemas,
  state: DeploymentState,
  names: readonly string[],
): Promise<void> {
  const missing = names.filter((name) => !state.claimedSchemas.has(name));
  const claimed = missing.length === 0 ? [] : await claimSchemas(state.row, missing);
  for (const { name, id, revision } of claimed)
    state.claimedSchemas.set(name, { schemaId: id, revision, committed: false });
}
