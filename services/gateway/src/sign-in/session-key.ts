import type { CreatedKey } from '@orrery/contracts';
import { sql, type Transaction } from 'kysely';
import { ALL_SCOPES, addKey } from '../accounts/create-key.js';
import type { GatewaySchema } from '../database/schema.js';

/** How long a token from a sign-in is good. */
const TOKEN_MS = 24 * 3_600_000;

/** Creates the key of a sign-in. `name` says of which kind, and tells it from keys that people made. */
export async function addSessionKey(
  trx: Transaction<GatewaySchema>,
  accountId: number,
  name: string,
  now: Date,
): Promise<CreatedKey> {
  await retireExpired(trx, accountId, name, now);
  const expiresAt = new Date(now.getTime() + TOKEN_MS);
  return addKey(trx, accountId, { name, scopes: ALL_SCOPES, expiresAt });
}

/** Expired tokens of earlier sign-ins would accumulate in the account's list. */
async function retireExpired(
  trx: Transaction<GatewaySchema>,
  accountId: number,
  name: string,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('keys')
    .set({ revoked_at: sql`now()` })
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
}
