import { randomUUID } from 'node:crypto';
import type { Bus } from '@orrery/bus';
import { accountChanged, accountContract, ServiceError } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { rememberQuota } from './quota-store.js';

/** What the quotas of accounts are kept with. */
export interface QuotaDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
}

const STATES_PER_PAGE = 1000;
/** News may be lost with the bus; this often all accounts are compared, in milliseconds. */
const RECONCILE_MS = 60_000;
const TIMEOUT_MS = 10_000;

/** Keeps the accounts' quotas as the gateway, their owner, has them: by its news, and by asking now and then. */
export async function followAccounts(
  context: QuotaDependencies,
  bus: Bus,
  signal: AbortSignal,
): Promise<PollLoop> {
  const { db, clock, logger } = context;
  await bus.consume(accountChanged, {
    consumer: 'catalog-account-quotas',
    handle: async (state) => {
      await rememberQuota(db, state);
      return 'ack';
    },
    signal,
  });
  return startPollLoop({
    name: 'account reconciliation',
    intervalMs: RECONCILE_MS,
    clock,
    logger,
    runOnce: async (stopping) => {
      await reconcile(context, bus, stopping).catch((error: unknown) => {
        // A gateway that starts or restarts is no failure: its news come anyway, and we ask again.
        if (!isAway(error)) throw error;
        logger.debug('the gateway does not answer about accounts yet');
      });
      return 'idle';
    },
  });
}

const isAway = (error: unknown): boolean => error instanceof ServiceError && error.code === 'unavailable';

/** Asks for all accounts, page by page. */
async function reconcile({ db, clock }: QuotaDependencies, bus: Bus, signal: AbortSignal): Promise<void> {
  for (let afterId = 0; !signal.aborted; ) {
    const { states } = await bus.call(
      accountContract.rpcs['accounts.states'],
      { afterId, limit: STATES_PER_PAGE },
      {
        caller: { kind: 'service', service: 'catalog' },
        requestId: randomUUID(),
        deadline: clock.now() + TIMEOUT_MS,
        signal,
      },
    );
    for (const state of states) await rememberQuota(db, state);
    const last = states.at(-1);
    if (last === undefined || states.length < STATES_PER_PAGE) return;
    afterId = last.accountId;
  }
}
