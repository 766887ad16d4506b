import { accountContract, httpOperations } from '@orrery/contracts';
import { openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type RunningService } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import { accountHandlers } from './accounts/account-handlers.js';
import { keyHandlers } from './accounts/key-handlers.js';
import { startKeyVerifier } from './accounts/key-verifier.js';
import { startLastUses } from './accounts/last-uses.js';
import { startAnnouncements } from './accounts/start-announcements.js';
import { createApp } from './app.js';
import type { GatewayConfig } from './config.js';
import { findConsole } from './console/find-console.js';
import { migrations } from './database/migrations/index.js';
import type { GatewaySchema } from './database/schema.js';
import { listenHttp } from './http/server/http-server.js';
import { limitHandlers } from './limits/limit-handlers.js';
import { startLimiter } from './limits/start-limiter.js';
import { createDispatch } from './operations/dispatch.js';
import type { IdentityHandlers } from './operations/operation.js';
import { createExecuteForWallet } from './public/execute-for-wallet.js';
import { signInHandlers } from './sign-in/handlers.js';
import { startStreams } from './stream/start-streams.js';

export interface RunningGateway extends RunningService {
  /** Where it listens. */
  readonly url: string;
  /** Whether it serves the console. */
  readonly hasConsole: boolean;
  /** For the operator's account functions in the same process. */
  readonly db: Kysely<GatewaySchema>;
}

/** How long the HTTP server may take to close, and what it uses after it, in milliseconds. */
const CLOSE_MS = 5000;

/**
 * Starts the gateway: its accounts and keys, then the HTTP server. Disposing it closes the HTTP server first and lets
 * the requests under way end. @throws StartupError when the database or the port cannot be used.
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
    const { note: onUse } = startLastUses({ db, clock, logger, resources });
    const keys = await startKeyVerifier({ db, bus, clock, logger, resources, onUse });
    startAnnouncements({ database, bus, clock, logger, resources });
    await bus.serve(accountContract, accountHandlers(db));
    const identity: IdentityHandlers = {
      ...keyHandlers({ db, bus, keys, clock, logger }),
      ...signInHandlers({ db, clock, signIn: config.signIn }),
      ...limitHandlers(bus, config),
    };
    const { deadlineMs, runDeadlineMs } = config;
    const { note: onError } = database.storage;
    const longerMs = runDeadlineMs - deadlineMs;
    const call = createDispatch(bus, identity, { onError, longerMs });
    const stream = startStreams({ bus, call, keys, clock, logger, deadlineMs });
    const executeForWallet = createExecuteForWallet(bus, { onError, longerMs });
    const limiter = await startLimiter({ ...dependencies, redisUrl: config.redisUrl, resources });
    const consoleFolder = config.console ? findConsole() : undefined;
    let isEnding = false;
    const app = createApp({
      call,
      keys,
      clock,
      logger,
      health,
      routes: httpOperations,
      limiter,
      stream,
      executeForWallet,
      publicUrl: config.signIn.publicUrl,
      consoleFolder,
      ...config,
      limits: { ...config.limits, isEnding: () => isEnding },
    });
    const { shutdownDelayMs } = config;
    const close = async () => {
      isEnding = true;
      if (shutdownDelayMs > 0) await clock.sleep(shutdownDelayMs);
      await app.close();
    };
    resources.add('http', close, shutdownDelayMs + CLOSE_MS);
    const url = await listenHttp(app, config);
    logger.info({ url }, 'listening');
    const stopTimeoutMs = shutdownDelayMs + CLOSE_MS;
    return { url, db, hasConsole: consoleFolder !== undefined, stopTimeoutMs };
  }, dependencies);
}
