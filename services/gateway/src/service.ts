import type { Bus } from '@orrery/bus';
import { accountContract } from '@orrery/contracts';
import { type Clock, type Health, holding, type Logger, type RunningService } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import { accountHandlers } from './accounts/account-handlers.js';
import { identityHandlers } from './accounts/handlers.js';
import { startAnnouncements } from './accounts/start-announcements.js';
import { startKeys } from './accounts/start-keys.js';
import { createApp } from './app.js';
import type { GatewayConfig } from './config.js';
import { openDatabase } from './database/open-database.js';
import type { GatewaySchema } from './database/schema.js';
import { createDispatch } from './http/dispatch.js';
import { listenHttp } from './http/listen.js';
import { startLimiter } from './limits/start-limiter.js';
import { allRoutes } from './routes/index.js';
import { startStreams } from './stream/start-streams.js';

export interface GatewayDependencies {
  readonly databaseUrl: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: Health;
  /** Shares rate limits over replicas; without it each counts for itself. */
  readonly redisUrl?: string | undefined;
}

export interface RunningGateway extends RunningService {
  /** Where it listens. */
  readonly url: string;
  /** For the operator's account functions in the same process. */
  readonly db: Kysely<GatewaySchema>;
}

/**
 * Starts the gateway: its accounts and keys, then the door. Disposing it closes the door first and lets the requests
 * under way end. @throws StartupError when the database or the port cannot be used.
 */
export function startGateway(
  dependencies: GatewayDependencies,
  config: GatewayConfig,
): Promise<RunningGateway> {
  const { databaseUrl, bus, clock, logger, health } = dependencies;
  return holding(async (resources) => {
    const database = resources.use('database', await openDatabase({ databaseUrl, clock, logger }));
    const { db } = database;
    resources.add(
      'database check',
      health.register('gateway database', () => database.ping().then(() => ok)),
    );
    resources.add(
      'bus check',
      health.register('gateway bus', async () => ((await bus.health()).ok ? ok : away)),
    );
    const keys = await startKeys({ db, bus, clock, logger, resources });
    startAnnouncements({ database, bus, clock, logger, resources });
    await bus.serve(accountContract, accountHandlers(db));
    const call = createDispatch(
      bus,
      identityHandlers({ db, bus, keys, clock, logger, signIn: config.signIn }),
    );
    const stream = startStreams({ bus, call, keys, clock, logger, deadlineMs: config.deadlineMs, resources });
    const limiter = startLimiter({ ...dependencies, redisUrl: dependencies.redisUrl, resources });
    const app = createApp({
      call,
      keys,
      clock,
      logger,
      health,
      routes: allRoutes,
      limiter,
      stream,
      ...config,
    });
    resources.add('http', () => app.close());
    return { url: await listenHttp(app, config), db };
  }, logger);
}

const ok = { status: 'ok' as const };
const away = { status: 'unavailable' as const };
