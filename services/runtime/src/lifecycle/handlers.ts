import { type Handlers, type lifecycleRpcs, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { DeploymentAccess } from '../deployments/deployment-directory.js';
import { isPaused } from '../state/deployment-state.js';
import { lifecycleHeadOf, readLifecycle } from './read-lifecycle.js';

export interface LifecycleDependencies {
  readonly db: Db;
  readonly access: Pick<DeploymentAccess, 'visible' | 'owned'>;
  readonly clock: Pick<Clock, 'now'>;
}

export const lifecycleHandlers = ({
  db,
  access,
  clock,
}: LifecycleDependencies): Handlers<typeof lifecycleRpcs> => ({
  'lifecycle.read': async (request) => ({
    ...(await readLifecycle(db, request)),
    now: new Date(clock.now()).toISOString(),
  }),
  'deployments.authorize': async ({ params, relation }, { caller }) => {
    if (caller.kind !== 'account') throw new ServiceError('deployment_not_found');
    if (relation === 'owner') await access.owned(params, caller);
    const row = await access.visible(params, caller);
    return {
      deployment: row.address,
      isPaused: isPaused(row),
      lifecycle: await lifecycleHeadOf(db, row.id),
    };
  },
});
