import type { DeploymentRef } from './records.js';

/** A deployment as the paths of the API name it. */
export const deploymentPath = ({ world, deployment }: DeploymentRef) => ({
  worldAddress: world,
  address: deployment,
});
