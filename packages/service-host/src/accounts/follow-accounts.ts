import { type Bus, serviceCall } from '@orrery/bus';
import { type AccountState, accountChanged, accountContract, ServiceError } from '@orrery/contracts';
import { classifyPostgresError } from '@orrery/database';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';

export interface FollowAccountsOptions {
  /** The following service, as in the calls that it makes. */
  readonly service: string;
  /** Durable name of its consumer. */
  readonly consumer: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Stores states of different accounts, each unless a later one (by `revision`) is stored already: all, or none with an
   * error. Is told all states once a minute, so those that are known must cost no writes.
   */
  readonly store: (states: readonly AccountState[]) => Promise<void>;
  /** Passes a state on that was published. Not those of the comparison: every process reads these itself. */
  readonly passOn?: (state: AccountState) => Promise<void>;
  /** Runs after states were stored: one that was published, or all of them. */
  readonly onStored?: (signal: AbortSignal) => Promise<void>;
  /** Ends the following. */
  readonly signal: AbortSignal;
}

const STATES_PER_PAGE = 1000;
/** A message may be lost with the bus, so all accounts are compared at this interval, in milliseconds. */
const RECONCILE_MS = 60_000;
const TIMEOUT_MS = 10_000;

/**
 * Keeps a service's copy of the accounts' states (quotas, disabled or not) equal to the gateway's, which owns them: it
 * consumes the messages about changes, and reads all states from the gateway once a minute.
 */
export async function followAccounts(options: FollowAccountsOptions): Promise<PollLoop> {
  const { consumer, bus, clock, logger, store, passOn, onStored, signal } = options;
  await bus.consume(accountChanged, {
    consumer,
    handle: async (state) => {
      await store([state]);
      await passOn?.(state);
      await onStored?.(signal);
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
      await reconcile(options, stopping).catch((error: unknown) => {
        // A gateway that starts or restarts is no failure: it publishes changes anyway, and the next run compares again.
        if (!isAway(error)) throw error;
        logger.debug('the gateway does not answer about accounts yet');
      });
      return 'idle';
    },
  });
}

export type LearnAccountOptions = Pick<FollowAccountsOptions, 'service' | 'store'> & {
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Pick<Clock, 'monotonic'>;
};

/**
 * Reads one account's state from the gateway and stores it. For a caller of whom no news has come yet: so an account that
 * has signed up a moment ago is held to its quotas from its first request. @throws ServiceError `unavailable`
 */
export async function learnAccount(
  { service, bus, clock, store }: LearnAccountOptions,
  accountId: number,
  signal?: AbortSignal,
): Promise<void> {
  const { states } = await bus.call(
    accountContract.rpcs['accounts.states'],
    { afterId: accountId - 1, limit: 1 },
    serviceCall(service, clock, TIMEOUT_MS, signal),
  );
  const [state] = states;
  if (state?.accountId === accountId) await store([state]);
}

const isAway = (error: unknown): boolean => error instanceof ServiceError && error.code === 'unavailable';

/** Reads all states, and stores them page by page. */
async function reconcile(options: FollowAccountsOptions, signal: AbortSignal): Promise<void> {
  const { service, bus, clock, onStored } = options;
  for (let afterId = 0; !signal.aborted; ) {
    const { states } = await bus.call(
      accountContract.rpcs['accounts.states'],
      { afterId, limit: STATES_PER_PAGE },
      serviceCall(service, clock, TIMEOUT_MS, signal),
    );
    await storePage(options, states);
    const last = states.at(-1);
    if (states.length < STATES_PER_PAGE || last === undefined) break;
    afterId = last.accountId;
  }
  await onStored?.(signal);
}

/** A state that cannot be stored keeps no other back, nor what follows from all: it is sought by halves. */
async function storePage(options: FollowAccountsOptions, states: readonly AccountState[]): Promise<void> {
  const [first] = states;
  if (first === undefined) return;
  try {
    await options.store(states);
  } catch (err) {
    if (classifyPostgresError(err).kind !== 'other') throw err;
    if (states.length === 1)
      return options.logger.error(
        { err, account: first.accountId },
        'the state of an account cannot be stored',
      );
    const half = Math.ceil(states.length / 2);
    await storePage(options, states.slice(0, half));
    await storePage(options, states.slice(half));
  }
}
