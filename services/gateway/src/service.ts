import { type AccountState, accountChanged, accountContract, httpOperations } from '@orrery/contracts';
import { type OutboxMessage, startRelay } from '@orrery/database';
import { openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type RunningService } from '@orrery/service-kit';
import { createApp } from './app.js';
import type { GatewayConfig } from './config.js';
import type { IdentityHandlers } from './core/requests/operation.js';
import { findConsole } from './documents/console-routes.js';
import { startKeyVerifier } from './http/access/key-verifier.js';
import { startLimiter } from './http/rates/limiter.js';
import { createDispatch } from './http/routes/dispatch.js';
import { listenHttp } from './http/server/http-server.js';
import { accountHandlers } from './operations/accounts.js';
import { keyHandlers } from './operations/keys.js';
import { limitHandlers } from './operations/limits.js';
import { signInHandlers } from './operations/sign-in.js';
import { createExecuteForWallet } from './public/execute-for-wallet.js';
import { migrations } from './store/tables/migrations/index.js';
import type { Db, GatewaySchema } from './store/tables/schema.js';
import { startStreams } from './stream/start-streams.js';

export interface RunningGateway extends RunningService {
  /** Where it listens. */
  readonly url: string;
  /** Whether it serves the console. */
  readonly hasConsole: boolean;
  /** For the operator's account functions in the same process. */
  readonly db: Db;
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
    const keys = await startKeyVerifier({ db, bus, clock, logger, resources });
    const relay = startRelay({
      database,
      clock,
      logger,
      publish: (messages) => bus.publishAll(accountChanged, messages.map(publicationOf)),
    });
    resources.add('account announcements', () => relay.stop());
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
    const ending = new AbortController();
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
      ending: ending.signal,
    });
    const { shutdownDelayMs } = config;
    const close = async () => {
      ending.abort();
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

// Only account states are ever put into this outbox; the bus checks them against the contract.
const publicationOf = ({ payload, messageId: id, orderingKey }: OutboxMessage) => ({
  payload: payload as unknown as AccountState,
  id,
  orderingKey,
});
