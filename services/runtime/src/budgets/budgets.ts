import { ServiceError } from '@orrery/contracts';
import { toServiceError, transaction } from '@orrery/database';
import { type Backoff, type Clock, createBatcher, type Logger, retry } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { Budget, ModelUsage } from '../models/decider.js';
import {
  addUsage,
  dayOf,
  lockBudgets,
  type Payer,
  putReservation,
  quotaOf,
  type RequestCost,
  type Spent,
  spentOf,
} from './usage-store.js';

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
/** Pauses between the attempts to store what a request has cost while the database is away. */
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
  const add = createBatcher<RequestCost, undefined>({
    maxBatch: AT_ONCE,
    load: async (costs) => {
      await addUsage(db, costs);
      return costs.map(() => undefined);
    },
  });
  const addLater = (cost: RequestCost): Promise<void> => {
    const retryable = (error: unknown) => toServiceError(error).retryable;
    const policy = { ...PAUSE, attempts: Number.POSITIVE_INFINITY, retryable };
    const stored = retry(() => add(cost), policy, { clock, signal: stopping.signal })
      .catch((error: unknown) => logger.warn({ err: error }, 'the cost of a model request was not counted'))
      .finally(() => pending.delete(stored));
    pending.add(stored);
    return stored;
  };
  const of = (payer: Payer): Budget => ({
    reserve: async (most) => {
      const day = dayOf(clock.now());
      const reservation = await reserve(db, payer, most, { day, now: new Date(clock.now()) });
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

/** The id of the reservation; null where no budget limits the request. @throws `budget_exhausted`, `ai_model_unpriced` */
async function reserve(
  db: Db,
  payer: Payer,
  { usd }: ModelUsage,
  { day, now }: { day: string; now: Date },
): Promise<string | null> {
  if (usd === null) {
    if (payer.dailyBudgetUsd !== null) throw unpriced();
    return null;
  }
  const limits = { deployment: payer.dailyBudgetUsd, account: await quotaOf(db, payer.accountId) };
  if (limits.deployment === null && limits.account === null) return null;
  const id = crypto.randomUUID();
  await transaction(db, async (trx) => {
    await lockBudgets(trx, payer.accountId);
    refuseBeyond(limits, await spentOf(trx, payer, day, now), usd);
    await putReservation(trx, payer, { id, day, usd, now });
  });
  return id;
}

const unpriced = () =>
  new ServiceError(
    'ai_model_unpriced',
    'The deployment has a budget and its AI model no prices. Choose a model with prices, or remove the budget.',
  );

const OF = { deployment: 'budget of the deployment', account: 'quota of the account' };

/** @throws `budget_exhausted` */
function refuseBeyond(limits: Readonly<Record<keyof Spent, number | null>>, spent: Spent, usd: number): void {
  for (const of of ['deployment', 'account'] as const) {
    const limit = limits[of];
    if (limit === null || spent[of] + usd <= limit) continue;
    throw new ServiceError(
      'budget_exhausted',
      `The ${OF[of]} for AI models, ${limit} US dollars a day, does not cover another request today. The next day begins at 00:00 UTC.`,
      { facts: { limitedBy: of, limitUsd: limit, spentUsd: spent[of], requestUsd: usd } },
    );
  }
}
