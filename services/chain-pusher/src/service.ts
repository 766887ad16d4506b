import { BlockList } from 'node:net';
import { CONTENT_BYTES, chainContract, type PayloadOf, pushResult } from '@orrery/contracts';
import { type OutboxMessage, startKeySweep, startOutboxRelay } from '@orrery/database';
import { followAccounts, followJournal, openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type RunningService } from '@orrery/service-kit';
import { type OpenChain, openChain } from './chains/open-chain.js';
import type { ChainPusherConfig } from './config.js';
import { createAddressRules } from './core/webhooks/address-rules.js';
import { createSeal, type Seal } from './core/webhooks/seal.js';
import type { Resolve } from './delivering/connect-to.js';
import { startDelivering } from './delivering/start-delivering.js';
import { startReadingHeads } from './intake/read-heads.js';
import { takeEntry } from './intake/take-entry.js';
import { pushHandlers } from './operations/handlers.js';
import { webhookHandlers } from './operations/webhooks.js';
import { type Sending, startSending } from './sending/start-sending.js';
import { storeAccounts } from './store/accounts/account-store.js';
import { CONSUMER } from './store/lanes/dead-letters.js';
import { migrations } from './store/tables/migrations/index.js';
import type { ChainPusherSchema } from './store/tables/schema.js';

export interface ChainPusherDependencies extends ServiceDependencies {
  /** Opens a chain of the configuration; tests give it shorter delays. */
  readonly openChain?: OpenChain;
  /** Finds the addresses of names that webhooks are sent to; tests have names of their own. */
  readonly resolveName?: Resolve;
}

/** How often each chain's lanes are checked, in milliseconds. */
const POLL_MS = 500;
/** How often it is looked for heads of hours that are over, in milliseconds. */
const HEADS_POLL_MS = 5000;
const KEY_SWEEP_MS = 60_000;

/**
 * Starts the chain-pusher on its own schema of the database. Without configured chains it only answers how earlier pushes
 * stand, without a key it only shows the webhooks. @throws StartupError when the database cannot be used.
 */
export function startChainPusher(
  dependencies: ChainPusherDependencies,
  config: ChainPusherConfig,
): Promise<RunningService> {
  const { bus, clock, logger } = dependencies;
  const service = 'chain-pusher';
  return holding(async (resources) => {
    const backends = { ...dependencies, service, schema: 'chain_pusher', migrations, resources };
    const database = await openBackends<ChainPusherSchema>(backends);
    const { db } = database;
    const chains = new Map(config.chains.map(({ chain }) => [chain.name, chain]));
    const stopping = new AbortController();
    const { signal } = stopping;
    const following = { service, bus, clock, logger, signal };
    const { webhooks = NO_WEBHOOKS } = config;
    const seal = sealWith(webhooks.keys);
    const delivering =
      seal &&
      (await startDelivering({ ...dependencies, ...webhooks, db, seal, resolve: dependencies.resolveName }));
    if (delivering !== undefined) resources.add('webhooks', () => delivering.stop());
    let sending: Sending | undefined;
    const wake = (chain: string) => sending?.wake(chain);
    await bus.serve(chainContract, {
      ...pushHandlers({ db, bus, chains, wake }),
      ...webhookHandlers({
        ...{ db, bus, clock },
        allows: createAddressRules(webhooks.allowedNetworks),
        deliveries: seal && delivering && { ...delivering, seal },
      }),
    });
    const keys = startKeySweep(db, { clock, logger, intervalMs: KEY_SWEEP_MS });
    resources.add('idempotency key sweep', () => keys.stop());
    const accounts = await followAccounts({
      ...following,
      consumer: 'chain-pusher-accounts',
      store: (states) => storeAccounts(db, states),
    });
    resources.add('account reconciliation', () => accounts.stop());
    if (chains.size === 0) {
      resources.add('account messages', () => stopping.abort());
      return {};
    }

    const limitOf = (chain: string) => CONTENT_BYTES[chains.get(chain)?.family ?? 'evm'];
    const relay = startOutboxRelay({ database, publish: publishWith(bus), clock, logger });
    resources.add('outbox relay', () => relay.stop());
    const journals = await followJournal({
      ...following,
      consumer: CONSUMER,
      database,
      handle: (trx, entry) => takeEntry(trx, entry, limitOf),
    });
    resources.add('consumers', async () => {
      stopping.abort();
      await journals.ended();
    });
    sending = await startSending({
      db,
      chains: config.chains,
      portOf: dependencies.openChain ?? openChain,
      owner: `chain-pusher-${crypto.randomUUID()}`,
      leaseTtlMs: config.leaseTtlMs,
      pollMs: config.pollMs ?? POLL_MS,
      consumer: CONSUMER,
      skipLost: journals.skipLost,
      onChanged: relay.wake,
      clock,
      logger,
    });
    resources.add('sending', sending.stop);
    const heads = startReadingHeads({ db, bus, clock, logger, pollMs: config.pollMs ?? HEADS_POLL_MS, wake });
    resources.add('heads to push', () => heads.stop());
    return {};
  }, dependencies);
}

const NO_WEBHOOKS = { keys: [], allowedNetworks: new BlockList() };

const sealWith = ([first, ...others]: readonly Buffer[]): Seal | undefined =>
  first && createSeal([first, ...others]);

/** Stores push results on the bus, and broadcasts them to the live streams. */
const publishWith =
  (bus: ServiceDependencies['bus']) =>
  async (messages: readonly OutboxMessage[]): ReturnType<typeof bus.publishAll> => {
    // This outbox contains only push results.
    const payloadOf = ({ payload }: OutboxMessage) => payload as PayloadOf<typeof pushResult>;
    const outcomes = await bus.publishAll(
      pushResult,
      messages.map((message) => ({
        payload: payloadOf(message),
        id: message.messageId,
        orderingKey: message.orderingKey,
      })),
    );
    for (const message of messages)
      await bus.broadcast(pushResult, payloadOf(message)).catch(() => undefined);
    return outcomes;
  };
