import { type CallContext, ServiceError } from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import { type Binding, type DeploymentState, isPaused } from '../state/deployment-state.js';
import type { CompiledDefinition } from './compiled-definition.js';
import type { ExecutionRequest } from './execute-item.js';
import type { Execution } from './execution.js';

/** What a run was decided by. */
export interface Resolved {
  readonly binding: Binding;
  readonly definition: CompiledDefinition;
}

/** The definition that was confirmed for a bound version; `undefined`: the catalog has none. */
export type Confirmed =
  | { readonly versionId: number; readonly definition: CompiledDefinition | undefined }
  | undefined;

export async function confirmVersion(
  catalog: Pick<CatalogClient, 'version'>,
  state: DeploymentState,
  event: string,
): Promise<Confirmed> {
  const versionId = state.bindings.get(event)?.versionId;
  return versionId === undefined ? undefined : { versionId, definition: await catalog.version(versionId) };
}

/** What an event runs now; 'prepare' when that is not what was confirmed. @throws what refuses it before *read* */
export function resolveEvent(
  state: DeploymentState,
  event: string,
  confirmed: Confirmed,
): Resolved | 'prepare' {
  if (isPaused(state.row)) throw new ServiceError('deployment_paused');
  const binding = state.bindings.get(event);
  if (binding === undefined) throw new ServiceError('event_not_bound', `"${event}" is not bound here`);
  if (confirmed?.versionId !== binding.versionId) return 'prepare';
  const { definition } = confirmed;
  if (definition === undefined) throw new ServiceError('unknown_event_version', 'the bound version is gone');
  return { binding, definition };
}

/** One request as the pure core executes it. */
export const executionOf = (
  { definition }: Resolved,
  { row, head }: DeploymentState,
  { event, input, trigger, walletAddress, dryRun }: ExecutionRequest,
  { caller }: Pick<CallContext, 'caller'>,
  { instancesPerDeployment: limit }: { readonly instancesPerDeployment: number },
  now: number,
): Execution => ({
  definition,
  deployment: { address: row.address, worldAddress: row.world_address },
  instanceCount: { now: head.totals['instances'] ?? 0, limit },
  event,
  input,
  caller,
  trigger,
  walletAddress,
  now,
  dryRun,
});
