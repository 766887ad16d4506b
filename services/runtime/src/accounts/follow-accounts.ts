import type { Bus } from '@orrery/bus';
import { accountChanged, accountContract, ServiceError } from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { storeAccount } from './account-store.js';
import { notifyDeployments, type PauseDependencies } from './pause-by-account.js';

export interface AccountDependencies extends PauseDependencies {
  readonly bus: Pick<Bus, 'call' | 'consume'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const STATES_PER_PAGE = 1000;
/** News may be lost with the bus; this often all accounts are compared, in milliseconds. */
const RECONCILE_MS = 60_000;
const TIMEOUT_MS = 10_000;

/** Keeps quotas and disabled accounts as the gateway, their owner, has them: by its news, and by asking now and then. */
export async function followAccounts(
  dependencies: AccountDependencies,
  signal: AbortSignal,
): Promise<PollLoop> {
  const { db, bus, clock, logger } = dependencies;
  await bus.consume(accountChanged, {
    consumer: 'runtime-accounts',
    handle: async (state) => {
      await storeAccount(db, state);
      await notifyDeployments(dependencies, signal);
      return 'ack';
    },
    signal,
  });
  return startPollLoop({
    name: 'account reconciliation',
    intervalMs: RECONCILE_MS,
    clock,
    logger,
    signal,
    runOnce: async (stopping) => {
      await reconcile(dependencies, stopping).catch((error: unknown) => {
        // A gateway that starts or restarts is no failure: its news come anyway, and we ask again.
        if (!isAway(error)) throw error;
        logger.debug('the gateway does not answer about accounts yet');
      });
      return 'idle';
    },
  });
}

const isAway = (error: unknown): boolean => error instanceof ServiceError && error.code === 'unavailable';

/** Asks for all accounts, page by page, then tells the deployments that follow from it. */
export async function reconcile(dependencies: AccountDependencies, signal: AbortSignal): Promise<void> {
  const { db, bus, clock } = dependencies;
  for (let afterId = 0; !signal.aborted; ) {
    const { states } = await bus.call(
      accountContract.rpcs['accounts.states'],
      { afterId, limit: STATES_PER_PAGE },
      {
        caller: { kind: 'service', service: 'runtime' },
        requestId: crypto.randomUUID(),
        deadline: clock.now() + TIMEOUT_MS,
        signal,
      },
    );
    for (const state of states) await storeAccount(db, state);
    const last = states.at(-1);
    if (states.length < STATES_PER_PAGE || last === undefined) break;
    afterId = last.accountId;
  }
  await notifyDeployments(dependencies, signal);
}
