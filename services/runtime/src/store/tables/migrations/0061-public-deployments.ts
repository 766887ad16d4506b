import { statements } from '@orrery/database';

/** Strangers list the public deployments of a world, of which there may be few among a million. */
export const publicDeployments = statements(`
  create index deployments_public on runtime.deployments (world_id, id) where is_public and deleted_at is null;
`);
