import { type AccountState, accountChanged, accountContract, httpOperations } from '@orrery/contracts';
import { type Database, type OutboxMessage, startOutboxRelay } from '@orrery/database';
import { openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type Resources, type RunningService } from '@orrery/service-kit';
import { type AppContext, createApp } from './app.js';
import type { GatewayConfig } from './config.js';
import type { IdentityHandlers } from './core/requests/operation.js';
import { findBuilt } from './documents/static-files.js';
import { type KeyVerifier, startKeyVerifier } from './http/access/access.js';
import { startLimiter } from './http/rates/limiter.js';
import { createDispatch } from './http/routes/dispatch.js';
import { listenHttp } from './http/server/http-server.js';
import { accountHandlers } from './operations/accounts.js';
import { keyHandlers } from './operations/keys.js';
import { limitHandlers } from './operations/limits.js';
import { signInHandlers } from './operations/sign-in.js';
import { createFindPublished } from './public/published.js';
import { createExecuteForWallet } from './public/signed-route.js';
import { migrations } from './store/tables/migrations/index.js';
import type { Db, GatewaySchema } from './store/tables/schema.js';
import { startStreams } from './stream/start-streams.js';
import { createAskChain } from './wallets/chain-nodes.js';
import { createWalletVerifier } from './wallets/verify-wallet.js';

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
export const startGateway = (
  dependencies: ServiceDependencies,
  config: GatewayConfig,
): Promise<RunningGateway> =>
  holding(async (resources) => {
    const backends = { ...dependencies, service: 'gateway', schema: 'gateway', migrations, resources };
    const database = await openBackends<GatewaySchema>(backends);
    const { db } = database;
    const started: Started = { ...dependencies, config, database, db, resources };
    const keys = await startKeyVerifier(started);
    announceAccounts(started);
    await dependencies.bus.serve(accountContract, accountHandlers(db));
    const consoleFolder = config.console ? findBuilt('apps/console/dist') : undefined;
    const url = await serveHttp(started, {
      ...operationsOf(started, keys),
      ...config,
      ...dependencies,
      keys,
      consoleFolder,
      docsFolder: findBuilt('apps/docs/dist/public'),
      playFolder: config.playersPage ? findBuilt('apps/play/dist') : undefined,
      routes: httpOperations,
      limiter: await startLimiter({ ...started, redisUrl: config.redisUrl }),
      publicUrl: config.signIn.publicUrl,
    });
    const hasConsole = consoleFolder !== undefined;
    return { url, db, hasConsole, stopTimeoutMs: config.shutdownDelayMs + CLOSE_MS };
  }, dependencies);

interface Started extends ServiceDependencies {
  config: GatewayConfig;
  database: Database<GatewaySchema>;
  db: Db;
  resources: Resources;
}

/** Publishes the changes of accounts in the outbox, including those written by the operator's commands. */
function announceAccounts({ database, bus, clock, logger, resources }: Started): void {
  const relay = startOutboxRelay({
    database,
    clock,
    logger,
    publish: (messages) => bus.publishAll(accountChanged, messages.map(publicationOf)),
  });
  resources.add('account announcements', () => relay.stop());
}

// Only account states are ever put into this outbox; the bus checks them against the contract.
const publicationOf = ({ payload, messageId: id, orderingKey }: OutboxMessage) => ({
  payload: payload as unknown as AccountState,
  id,
  orderingKey,
});

/** What answers the operations: the gateway's own handlers, the services over the bus, streams. */
function operationsOf(started: Started, keys: KeyVerifier) {
  const { bus, clock, config, database, db, logger } = started;
  const wallets = createWalletVerifier(config.walletNodes, createAskChain(config.walletNodes, started));
  const identity: IdentityHandlers = {
    ...keyHandlers({ db, bus, keys, clock, logger }),
    ...signInHandlers({ db, clock, wallets, signIn: config.signIn }),
    ...limitHandlers(bus, config),
  };
  const { deadlineMs, runDeadlineMs, streamBounds } = config;
  const options = { onError: database.storage.suspect, longerMs: runDeadlineMs - deadlineMs };
  const call = createDispatch(bus, identity, options);
  const findPublished = createFindPublished(bus, clock);
  const stream = startStreams(bus, { call, findPublished, streamBounds, keys, clock, logger, deadlineMs });
  return { call, stream, wallets, findPublished, executeForWallet: createExecuteForWallet(bus, options) };
}

/** Listens; resolves with the address. */
async function serveHttp(
  { clock, config, logger, resources }: Started,
  context: Omit<AppContext, 'ending'>,
): Promise<string> {
  const { shutdownDelayMs } = config;
  const ending = new AbortController();
  const app = createApp({ ...context, ending: ending.signal });
  const close = async () => {
    ending.abort();
    if (shutdownDelayMs > 0) await clock.sleep(shutdownDelayMs);
    await app.close();
  };
  resources.add('http', close, shutdownDelayMs + CLOSE_MS);
  const url = await listenHttp(app, config);
  logger.info({ url }, 'listening');
  return url;
}
