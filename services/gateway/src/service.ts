import { accountContract } from '@orrery/contracts';
import { openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type RunningService } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import { accountHandlers } from './accounts/account-handlers.js';
import { identityHandlers } from './accounts/handlers.js';
import { startAnnouncements } from './accounts/start-announcements.js';
import { startKeys } from './accounts/start-keys.js';
import { createApp } from './app.js';
import type { GatewayConfig } from './config.js';
import { migrations } from './database/migrations/index.js';
import type { GatewaySchema } from './database/schema.js';
import { createDispatch } from './http/dispatch.js';
import { listenHttp } from './http/listen.js';
import { startLimiter } from './limits/start-limiter.js';
import { allRoutes } from './routes/index.js';
import { startStreams } from './stream/start-streams.js';

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
  dependencies: ServiceDependencies,
  config: GatewayConfig,
): Promise<RunningGateway> {
  const { bus, clock, logger, health } = dependencies;
  return holding(async (resources) => {
    const backends = { ...dependencies, service: 'gateway', schema: 'gateway', migrations, resources };
    const database = await openBackends<GatewaySchema>(backends);
    const { db } = database;
    const keys = await startKeys({ db, bus, clock, logger, resources });
    startAnnouncements({ database, bus, clock, logger, resources });
    await bus.serve(accountContract, accountHandlers(db));
    const call = createDispatch(
      bus,
      identityHandlers({ db, bus, keys, clock, logger, signIn: config.signIn }),
    );
    const { deadlineMs } = config;
    const stream = startStreams({ bus, call, keys, clock, logger, deadlineMs, resources });
    const limiter = await startLimiter({ ...dependencies, redisUrl: config.redisUrl, resources });
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
    const url = await listenHttp(app, config);
    logger.info({ url }, 'listening');
    return { url, db };
  }, logger);
}
