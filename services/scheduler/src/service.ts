import type { Bus } from '@orrery/bus';
import { connect, migrate } from '@orrery/database';
import { type Clock, type Health, holding, type Logger, type RunningService } from '@orrery/service-kit';
import { migrations } from './database/migrations/index.js';

export interface SchedulerDependencies {
  readonly databaseUrl: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: Health;
}

/** Starts the scheduler on its own database schema. @throws StartupError when the database cannot be used. */
export function startScheduler(dependencies: SchedulerDependencies): Promise<RunningService> {
  const { databaseUrl: url, bus, clock, logger, health } = dependencies;
  return holding(async (resources) => {
    const connection = { url, schema: 'scheduler', applicationName: 'orrery-scheduler', clock, logger };
    const database = resources.use('database', await connect(connection));
    await migrate({ database, migrations, logger });
    resources.add(
      'database check',
      health.register('scheduler database', () => database.ping().then(() => ({ status: 'ok' }))),
    );
    resources.add(
      'bus check',
      health.register('scheduler bus', async () => statusOf(await bus.health())),
    );
    return {};
  }, logger);
}

const statusOf = ({ ok }: { ok: boolean }) => ({ status: ok ? ('ok' as const) : ('unavailable' as const) });
