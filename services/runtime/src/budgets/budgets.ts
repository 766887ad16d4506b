import { ServiceError } from '@orrery/contracts';
import { toServiceError } from '@orrery/database';
import {
  type Backoff,
  type Clock,
  createBatcher,
  type Logger,
  retry,
  storedTimeOf,
} from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { Budget, ModelUsage } from '../models/decider.js';
import { createReservations } from './reservations.js';
import { addUsage, dayOf, type Payer, type RequestCost } from './usage-store.js';

export interface Budgets {
  /** What the requests of one execution are paid from. */
  of(payer: Payer): Budget;
  /** Ends the attempts to store what requests have cost. */
  stop(): Promise<void>;
}

export interface BudgetOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Requests whose costs are added by one statement. */
const AT_ONCE = 500;
/** Pauses between the attempts to reserve, and to store what a request has cost, while the database is away. */
const PAUSE: Backoff = { baseMs: 200, maxMs: 5000 };

/**
 * The budgets of deployments and accounts, in PostgreSQL: before a request to a model, what it may cost at most is
 * reserved; after it, what it did cost is counted. A request without any budget is only counted. A cost that was stored
 * when the connection broke may be counted twice, never not at all while the process lives.
 */
export function createBudgets({ db, clock, logger }: BudgetOptions): Budgets {
  const stopping = new AbortController();
  const pending = new Set<Promise<void>>();
  // Requests of one event count in one row: those that end at the same time are added together.
  const reserve = createReservations(db, clock);
  const add = createBatcher<RequestCost, undefined>({
    maxBatch: AT_ONCE,
    load: async (costs) => {
      await addUsage(db, costs);
      return costs.map(() => undefined);
    },
  });
  const policy = {
    ...PAUSE,
    attempts: Number.POSITIVE_INFINITY,
    retryable: (error: unknown) => toServiceError(error).retryable,
  };
  const addLater = (cost: RequestCost): Promise<void> => {
    const stored = retry(() => add(cost), policy, { clock, signal: stopping.signal })
      .catch((error: unknown) => logger.warn({ err: error }, 'the cost of a model request was not counted'))
      .finally(() => pending.delete(stored));
    pending.add(stored);
    return stored;
  };
  const of = (payer: Payer): Budget => ({
    reserve: async (most, signal) => {
      refuseUnpriced(payer, most);
      const day = dayOf(clock.now());
      const stored = { ...payer, deadline: storedTimeOf(clock, payer.deadline) };
      const reservation = await retry(() => reserve(stored, day, most.usd), policy, { clock, signal }).catch(
        (error: unknown) => {
          signal.throwIfAborted();
          throw toServiceError(error);
        },
      );
      return {
        settle: async (usage) => {
          const cost = { payer, reservation, day, usage };
          // Not awaited: the answer of the model does not wait for a database that is away.
          await add(cost).catch(() => void addLater(cost));
        },
      };
    },
  });
  return {
    of,
    stop: async () => {
      stopping.abort();
      await Promise.allSettled([...pending]);
    },
  };
}

/** @throws `ai_model_unpriced` */
function refuseUnpriced({ dailyBudgetUsd }: Payer, { usd }: ModelUsage): void {
  if (usd !== null || dailyBudgetUsd === null) return;
  throw new ServiceError(
    'ai_model_unpriced',
    'The deployment has a budget and its AI model no prices. Choose a model with prices, or remove the budget.',
  );
}
