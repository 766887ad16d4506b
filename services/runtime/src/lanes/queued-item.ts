import { asServiceError, type Cancellation, ServiceError } from '@orrery/contracts';
import type { KeyedMutex } from '@orrery/service-kit';
import type { ClaimSchemas } from '../catalog/catalog-client.js';
import type { IdBlocks } from '../ids/id-blocks.js';
import { NotOwner, partitionOf } from '../ownership/partitions.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { InstanceLoader } from '../state/load-instances.js';
import type { ResidentStates } from '../state/resident-states.js';
import type { ItemNeeds, WorkItem } from '../state/work-item.js';

/** An item on its way through its lane, with how to answer its caller. */
export interface QueuedItem {
  readonly item: WorkItem<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  /**
   * `committing`: it was decided, and its batch is being committed. `released`: its caller was sent to another owner, so
   * it is never decided here.
   */
  stage: 'undecided' | 'committing' | 'released';
  /** What the last decision found missing. */
  needs: ItemNeeds | undefined;
  /** The state that it was prepared for. */
  state: DeploymentState | undefined;
  /** A batch with it failed: it is committed by itself, so that it fails no other item. */
  isolated: boolean;
  /** How often it broke a unique constraint when it was committed by itself. */
  violations: number;
  /** How often it has been prepared. */
  rounds: number;
}

/** Rounds of prepare and decide after which something must be wrong. */
const MAX_ROUNDS = 50;

/** Why an item is not worth deciding any more: its caller does not wait, or it never becomes ready. */
export function reasonToDrop({ item, rounds, stage }: QueuedItem, now: number): Error | undefined {
  if (stage === 'released') return new NotOwner(partitionOf(item.deploymentId));
  if (item.signal.aborted) return abortReason(item.signal);
  if (now >= item.deadline) return new ServiceError('deadline_exceeded');
  if (rounds > MAX_ROUNDS)
    return new ServiceError('overloaded', 'The deployment changes too fast to decide.');
  return undefined;
}

export const abortReason = ({ reason }: Cancellation): ServiceError =>
  reason instanceof ServiceError
    ? reason
    : new ServiceError('deadline_exceeded', undefined, { cause: reason });

/** What the caller is refused with: NotOwner goes to the router, an unknown error becomes `internal`. */
export const refusalOf = (error: unknown): unknown =>
  error instanceof NotOwner ? error : asServiceError(error);

export interface PrepareDependencies {
  readonly states: ResidentStates;
  readonly instances: InstanceLoader;
  readonly ids: IdBlocks;
  readonly claimSchemas: ClaimSchemas;
  readonly claimMutex: KeyedMutex;
}

/** Loads into memory what an item needs; items are prepared side by side. @throws NotOwner, `deployment_not_found` */
export async function prepareItem(dependencies: PrepareDependencies, queued: QueuedItem): Promise<void> {
  const { states } = dependencies;
  const state = await states.get(queued.item.deploymentId);
  if (state === undefined) throw new ServiceError('deployment_not_found');
  if (queued.needs !== undefined && queued.state === state)
    await fetchNeeds(dependencies, state, queued.needs);
  else await queued.item.prepare(state);
  queued.needs = undefined;
  queued.state = state;
  queued.rounds += 1;
}

/** What was prepared before stays valid: only the missing parts are fetched. */
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
