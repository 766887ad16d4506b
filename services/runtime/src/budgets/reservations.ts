import type { ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Batcher, type Clock, createBatcher } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { type Claim, grant } from './grant.js';
import { lockBudgets, type Payer, putReservations, quotaOf, readLedger } from './usage-store.js';

/**
 * Reserves so many US dollars of a day's budgets, and resolves with the id of the reservation; with null where no budget
 * limits the request. @throws `budget_exhausted`, and what the database throws
 */
export type Reserve = (payer: Payer, day: string, usd: number | null) => Promise<string | null>;

/** Claims that share one transaction. */
const AT_ONCE = 500;

interface Account {
  readonly decide: Batcher<Claim, string | null | ServiceError>;
  claims: number;
}

/**
 * Reservations take turns account by account, since all of them count towards one quota. Those of one account that are
 * asked for meanwhile share the next transaction; accounts do not wait for each other.
 */
export function createReservations(db: Db, clock: Pick<Clock, 'now'>): Reserve {
  const accounts = new Map<string, Account>();
  return async (payer, day, usd) => {
    // Nothing is to be bounded, and a quota cannot be compared with a price that nobody knows.
    if (usd === null) return null;
    const name = `${payer.accountId} ${day}`;
    const account = accounts.get(name) ?? openAccount(db, payer.accountId, day, clock);
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

const openAccount = (db: Db, accountId: number, day: string, clock: Pick<Clock, 'now'>): Account => ({
  claims: 0,
  decide: createBatcher({
    maxBatch: AT_ONCE,
    load: (claims) => decideClaims(db, claims, { accountId, day, now: new Date(clock.now()) }),
  }),
});

async function decideClaims(
  db: Db,
  claims: readonly Claim[],
  of: { readonly accountId: number; readonly day: string; readonly now: Date },
): Promise<readonly (string | null | ServiceError)[]> {
  const quota = await quotaOf(db, of.accountId);
  const isLimited = ({ payer }: Claim) => quota !== null || payer.dailyBudgetUsd !== null;
  const limited = claims.filter(isLimited);
  if (limited.length === 0) return claims.map(() => null);
  const ids = limited.map(({ payer }) => payer.executionId);
  const decided = await transaction(db, async (trx) => {
    await lockBudgets(trx, of.accountId);
    const refusals = grant(await readLedger(trx, of, ids), quota, limited);
    const decisions = limited.map((claim, at) => refusals[at] ?? { id: crypto.randomUUID(), ...claim });
    const granted = decisions.flatMap((one) => (one instanceof Error ? [] : [one]));
    if (granted.length > 0) await putReservations(trx, of, granted);
    return new Map(limited.map((claim, at) => [claim, decisions[at]]));
  });
  return claims.map((claim) => {
    const decision = decided.get(claim);
    return decision instanceof Error ? decision : (decision?.id ?? null);
  });
}
