import { type FieldProblem, fieldProblem, type VersionDefinition } from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { DeploymentState } from '../state/deployment-state.js';

/** Warns of a public event with a price in a deployment that has no receiver: no wallet can execute it. */
export function unpayable(
  { event, executionSettings }: Pick<VersionDefinition, 'event' | 'executionSettings'>,
  payToAddress: string | null,
  pointer: string,
): FieldProblem[] {
  const { visibility, priceUsd = 0 } = executionSettings ?? {};
  if (visibility !== 'public' || priceUsd <= 0 || payToAddress !== null) return [];
  const message =
    `The public event "${event}" costs ${priceUsd} USD and the deployment has no payToAddress: ` +
    'no wallet can execute it until the deployment has one.';
  return [fieldProblem(pointer, 'pay_to_address_missing', message)];
}

/**
 * The bound events that nobody can pay for with this receiver. A warning is not worth a failure: without the catalog there
 * are none.
 */
export async function unpayableBound(
  catalog: Pick<CatalogClient, 'version'>,
  { bindings }: Pick<DeploymentState, 'bindings'>,
  payToAddress: string | null,
  pointer: string,
): Promise<FieldProblem[]> {
  if (payToAddress !== null) return [];
  const versions = [...bindings.values()].map(({ versionId }) => catalog.version(versionId));
  const found = await Promise.all(versions).catch(() => []);
  return found.flatMap((one) => (one === undefined ? [] : unpayable(one.definition, null, pointer)));
}
