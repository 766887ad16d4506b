import type { accountContract, Contract, Handlers } from '@orrery/contracts';
import { toServiceError } from '@orrery/database';
import { accountStateOf, accountsAfter } from '../store/accounts/account-store.js';
import type { Db } from '../store/tables/schema.js';

type Rpcs = typeof accountContract extends Contract<infer R> ? R : never;

/** Answers the other services' calls about accounts. */
export const accountHandlers = (db: Db): Handlers<Rpcs> => ({
  'accounts.states': async ({ afterId, limit }) => {
    const rows = await accountsAfter(db, afterId, limit).catch((error: unknown) =>
      Promise.reject(toServiceError(error)),
    );
    return { states: rows.map(accountStateOf) };
  },
});
