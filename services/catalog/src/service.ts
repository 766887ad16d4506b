import { type AccountState, catalogChanged, catalogContract, type PayloadOf } from '@orrery/contracts';
import { type Database, type OutboxMessage, startOutboxRelay } from '@orrery/database';
import { followAccounts, learnAccount, openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type PollLoop, type RunningService } from '@orrery/service-kit';
import type { CatalogConfig } from './config.js';
import { catalogHandlers } from './handlers.js';
import { migrations } from './store/tables/migrations/index.js';
import type { CatalogSchema } from './store/tables/schema.js';
import { rememberQuotas } from './store/worlds/quota-store.js';
import { type AskHeld, askRuntime, type Sweeps, startSweeps } from './sweeping/sweeps.js';

export interface CatalogDependencies extends ServiceDependencies {
  /** Finds out which claims are held; by default calls the runtime. */
  readonly askHeld?: AskHeld;
}

/** Exposes the database and the loops for tests. */
export interface RunningCatalog extends RunningService {
  readonly database: Database<CatalogSchema>;
  readonly sweeps: Sweeps;
  readonly relay: PollLoop;
}

// This outbox contains only changes; the bus checks them against the contract.
const publicationOf = ({ payload, messageId, orderingKey }: OutboxMessage) => ({
  payload: payload as PayloadOf<typeof catalogChanged>,
  id: messageId,
  orderingKey,
});

/** Starts the catalog: migrations, handlers, then background loops. @throws StartupError. */
export function startCatalog(
  dependencies: CatalogDependencies,
  config: CatalogConfig,
): Promise<RunningCatalog> {
  const { bus, clock, logger, askHeld = askRuntime(bus, clock) } = dependencies;
  return holding(async (resources) => {
    const backends = { ...dependencies, service: 'catalog', schema: 'catalog', migrations, resources };
    const database = await openBackends<CatalogSchema>(backends);
    const { db, pool } = database;
    const accountsOf = {
      service: 'catalog',
      bus,
      clock,
      store: (states: readonly AccountState[]) => rememberQuotas(db, states),
    };
    const context = {
      db,
      pool,
      clock,
      limits: config.limits,
      learnQuota: (accountId: number, signal?: AbortSignal) => learnAccount(accountsOf, accountId, signal),
    };
    await bus.serve(catalogContract, catalogHandlers(context));

    const stopping = new AbortController();
    resources.add('consumers', () => stopping.abort());
    const accounts = await followAccounts({
      ...accountsOf,
      consumer: 'catalog-account-quotas',
      logger,
      signal: stopping.signal,
    });
    resources.add('account reconciliation', () => accounts.stop());
    const publish = (messages: readonly OutboxMessage[]) =>
      bus.publishAll(catalogChanged, messages.map(publicationOf));
    const relay = startOutboxRelay({ database, publish, clock, logger });
    resources.add('outbox relay', () => relay.stop());
    const sweeps = startSweeps({ db, clock, logger, askHeld, times: config });
    for (const [name, loop] of Object.entries(sweeps)) resources.add(`${name} sweep`, () => loop.stop());
    return { database, sweeps, relay };
  }, dependencies);
}
