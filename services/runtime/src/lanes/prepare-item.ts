import { ServiceError } from '@orrery/contracts';
import type { KeyedMutex } from '@orrery/service-kit';
import type { ClaimSchemas } from '../catalog/catalog-client.js';
import type { IdBlocks } from '../ids/id-blocks.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { InstanceLoader } from '../state/load-instances.js';
import type { ResidentStates } from '../state/resident-states.js';
import type { ItemNeeds } from '../state/work-item.js';
import type { QueuedItem } from './queued-item.js';

export interface PrepareDependencies {
  readonly states: ResidentStates;
  readonly instances: InstanceLoader;
  readonly ids: IdBlocks;
  readonly claimSchemas: ClaimSchemas;
  readonly claimMutex: KeyedMutex;
}

/** Brings into memory what an item needs; items are prepared side by side. @throws NotOwner, `deployment_not_found` */
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

/** What was prepared before stays valid: only what is missing is fetched. */
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
  for (const { name, schemaId } of claimed) state.claimedSchemas.set(name, { schemaId, committed: false });
}
