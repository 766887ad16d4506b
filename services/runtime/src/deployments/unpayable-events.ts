import { type FieldProblem, fieldProblem, type VersionDefinition } from '@orrery/contracts';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { DeploymentState } from '../state/deployment-state.js';

/** What the payments know of receivers. */
export interface Receivers {
  /** Why no wallet can pay this receiver, as the end of a sentence; undefined where wallets can. */
  whyUnpayable(payTo: string): string | undefined;
}

/** Why no wallet can pay for executions of a deployment; undefined where wallets can. */
export const lackOf = (payToAddress: string | null, receivers: Receivers): string | undefined =>
  payToAddress === null ? NO_RECEIVER : receivers.whyUnpayable(payToAddress);

const NO_RECEIVER =
  'the deployment has no payToAddress: no wallet can execute it until the deployment has one';

/** Warns of a public event with a price that no wallet can pay. @param lack why not, of the deployment */
export function unpayable(
  { event, executionSettings }: Pick<VersionDefinition, 'event' | 'executionSettings'>,
  lack: string | undefined,
  pointer: string,
): FieldProblem[] {
  const { visibility, priceUsd = 0 } = executionSettings ?? {};
  if (visibility !== 'public' || priceUsd <= 0 || lack === undefined) return [];
  const message = `The public event "${event}" costs ${priceUsd} USD and ${lack}.`;
  return [fieldProblem(pointer, 'pay_to_address_missing', message)];
}

/**
 * The bound events with a price that no wallet can pay. A warning is not worth a failure: without the catalog there are
 * none.
 * @param lack why not, of the deployment
 */
export async function unpayableBound(
  catalog: Pick<CatalogClient, 'version'>,
  { bindings }: Pick<DeploymentState, 'bindings'>,
  lack: string | undefined,
  pointer: string,
): Promise<FieldProblem[]> {
  if (lack === undefined) return [];
  const versions = [...bindings.values()].map(({ versionId }) => catalog.version(versionId));
  const found = await Promise.all(versions).catch(() => []);
  return found.flatMap((one) => (one === undefined ? [] : unpayable(one.definition, lack, pointer)));
}
