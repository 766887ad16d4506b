import { ServiceError } from '@orrery/contracts';
import { toServiceError, transaction } from '@orrery/database';
import {
  type Backoff,
  type Batcher,
  type Clock,
  createBatcher,
  type Logger,
  retry,
} from '@orrery/service-kit';
import { type Claim, grant, type Payer } from '../../core/prompting/grant.js';
import type { Budget, ModelUsage } from '../../core/prompting/model.js';
import type { Homes } from '../../lane/ownership/homes.js';
import { tellUsage } from '../../store/runs/account-wide.js';
import {
  addUsage,
  dayOf,
  lockBudgets,
  putReservations,
  quotaOf,
  type RequestCost,
  readLedger,
} from '../../store/runs/usage-store.js';
import type { Db } from '../../store/tables/schema.js';

export type Budgets = ReturnType<typeof createBudgets>;

const AT_ONCE = 500;

/** A cost is counted in the deployment's database, then the directory is told. */
type Step = () => Promise<undefined>;

const succeeds = (step: Step): Promise<boolean> =>
  step().then(
    () => true,
    () => false,
  );

/** Pauses between the tries to reserve, and to store what a request has cost, while the database is away. */
const PAUSE: Backoff = { baseMs: 200, maxMs: 5000 };

/**
 * The budgets of deployments and accounts, in PostgreSQL: before a request to a model, what it may cost at most is
 * reserved; after it, what it did cost is counted. A request without any budget is only counted. A cost that was stored
 * when the connection broke may be counted twice, never not at all while the process lives.
 */
export function createBudgets({
  db,
  homes,
  clock,
  logger,
}: {
  readonly db: Db;
  readonly homes: Pick<Homes, 'isOnly' | 'directory'>;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const stopping = new AbortController();
  const pending = new Set<Promise<void>>();
  // Requests of one event count in one row: those that end at the same time are added together.
  // Quotas of accounts hold for deployments of all databases. The directory's tables are as those of a database.
  const everywhere = homes.directory as unknown as Db;
  const reserve = createReservations(db, () => (homes.isOnly() ? db : everywhere), clock);
  const inBatches = (store: (costs: readonly RequestCost[]) => Promise<void>) =>
    createBatcher<RequestCost, undefined>({
      maxBatch: AT_ONCE,
      load: async (costs) => {
        await store(costs);
        return costs.map(() => undefined);
      },
    });
  const count = inBatches((costs) => addUsage(db, costs));
  const tell = inBatches((costs) => tellUsage(db, homes.directory, costs));
  const policy = {
    ...PAUSE,
    attempts: Number.POSITIVE_INFINITY,
    retryable: (error: unknown) => toServiceError(error).retryable,
  };
  const store = async (steps: readonly Step[]): Promise<void> => {
    for (const step of steps) await retry(step, policy, { clock, signal: stopping.signal });
  };
  const storeLater = (steps: readonly Step[]): void => {
    const stored = store(steps)
      .catch((error: unknown) => logger.warn({ err: error }, 'the cost of a model request was not counted'))
      .finally(() => pending.delete(stored));
    pending.add(stored);
  };
  return {
    /** What the requests of one execution are paid from. */
    of: (payer: Payer): Budget => ({
      reserve: async (most, signal) => {
        refuseUnpriced(payer, most);
        const day = dayOf(clock.now());
        const reserving = retry(() => reserve(payer, day, most.usd), policy, { clock, signal });
        const reservation = await reserving.catch((error: unknown) => {
          signal.throwIfAborted();
          throw toServiceError(error);
        });
        return {
          settle: async (usage) => {
            const cost = { payer, reservation, day, usage };
            const steps: readonly Step[] = [() => count(cost), ...(homes.isOnly() ? [] : [() => tell(cost)])];
            // The rest is not awaited: the answer of the model does not wait for a database that is away.
            for (const [at, step] of steps.entries())
              if (!(await succeeds(step))) return storeLater(steps.slice(at));
          },
        };
      },
    }),
    /** Ends the tries to store what requests have cost. */
    stop: async () => {
      stopping.abort();
      await Promise.allSettled([...pending]);
    },
  };
}

function refuseUnpriced({ dailyBudgetUsd }: Payer, { usd }: ModelUsage): void {
  if (usd !== null || dailyBudgetUsd === null) return;
  throw new ServiceError(
    'ai_model_unpriced',
    'The deployment has a budget and its AI model no prices. Choose a model with prices, or remove the budget.',
  );
}

const unpricedForQuota = (): ServiceError =>
  new ServiceError(
    'ai_model_unpriced',
    'The account has a quota for AI models, and this AI model has no prices. Choose a model with prices; or the operator gives this one prices, 0 for a free one, or lifts the quota.',
  );

/**
 * Reserves so many US dollars of a day's budgets, and resolves with the id of the reservation; with null where no budget
 * limits the request. @throws `budget_exhausted`, `ai_model_unpriced`, and what the database throws
 */
type Reserve = (payer: Payer, day: string, usd: number | null) => Promise<string | null>;

const CLAIMS_AT_ONCE = 500;

interface Account {
  readonly decide: Batcher<Claim, string | null | ServiceError>;
  claims: number;
}

/**
 * Reservations take turns account by account, since all of them count towards one quota. Those of one account that are
 * asked for meanwhile share the next transaction; accounts do not wait for each other.
 */
function createReservations(db: Db, ledger: () => Db, clock: Pick<Clock, 'monotonic'>): Reserve {
  const accounts = new Map<string, Account>();
  return async (payer, day, usd) => {
    if (usd === null) {
      // A quota cannot be compared with a price that nobody knows.
      if ((await quotaOf(db, payer.accountId)) !== null) throw unpricedForQuota();
      return null;
    }
    const name = `${payer.accountId} ${day}`;
    const account = accounts.get(name) ?? openAccount(db, ledger, payer.accountId, day, clock);
    accounts.set(name, account);
    account.claims += 1;
    try {
      const decision = await account.decide({ payer, usd });
      if (decision instanceof Error) throw decision;
      return decision;
    } finally {
      account.claims -= 1;
      if (account.claims === 0) accounts.delete(name);
    }
  };
}

const openAccount = (
  db: Db,
  ledger: () => Db,
  accountId: number,
  day: string,
  clock: Pick<Clock, 'monotonic'>,
): Account => ({
  claims: 0,
  decide: createBatcher({
    maxBatch: CLAIMS_AT_ONCE,
    load: (claims) => decideClaims(db, ledger(), claims, { accountId, day, now: clock.monotonic() }),
  }),
});

async function decideClaims(
  db: Db,
  ledger: Db,
  claims: readonly Claim[],
  of: { readonly accountId: number; readonly day: string; readonly now: number },
): Promise<readonly (string | null | ServiceError)[]> {
  const quota = await quotaOf(db, of.accountId);
  const isLimited = ({ payer }: Claim) => quota !== null || payer.dailyBudgetUsd !== null;
  const limited = claims.filter(isLimited);
  if (limited.length === 0) return claims.map(() => null);
  const ids = limited.map(({ payer }) => payer.executionId);
  const decided = await transaction(ledger, async (trx) => {
    await lockBudgets(trx, of.accountId);
    const refusals = grant(await readLedger(trx, of, ids), quota, limited);
    const decisions = limited.map((claim, at) => {
      const lastsMs = claim.payer.deadline - of.now;
      return refusals[at] ?? { id: crypto.randomUUID(), ...claim, lastsMs };
    });
    const granted = decisions.flatMap((one) => (one instanceof Error ? [] : [one]));
    if (granted.length > 0) await putReservations(trx, of, granted);
    return new Map(limited.map((claim, at) => [claim, decisions[at]]));
  });
  return claims.map((claim) => {
    const decision = decided.get(claim);
    return decision instanceof Error ? decision : (decision?.id ?? null);
  });
}
