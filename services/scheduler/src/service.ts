import { openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type RunningService } from '@orrery/service-kit';
import { migrations } from './database/migrations/index.js';

/** Starts the scheduler on its own schema of the database. @throws StartupError when the database cannot be used. */
export function startScheduler(dependencies: ServiceDependencies): Promise<RunningService> {
  return holding(async (resources) => {
    await openBackends({ ...dependencies, service: 'scheduler', schema: 'scheduler', migrations, resources });
    return {};
  }, dependencies.logger);
}
