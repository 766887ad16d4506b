import { type CreatedKey, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import type { AccountRow } from '../accounts/account-store.js';
import { ALL_SCOPES, addKey } from '../accounts/create-key.js';
import { accountOfWallet } from '../accounts/wallet-account.js';
import type { GatewaySchema } from '../database/schema.js';
import { isSignedBy, type SignedMessage } from '../public/signature/verify-signature.js';
import { takeChallenge } from './challenge-store.js';

/** How long a token from a sign-in is good. */
const TOKEN_MS = 24 * 3_600_000;
const KEY_NAME = 'wallet sign-in';

/**
 * Verify, take the challenge, find or make the account, make the key. The signature comes first, so that nobody else
 * can use a wallet's challenge up; the rest is one transaction, so that a failed sign-in leaves the challenge.
 *
 * @throws ServiceError `invalid_signature`, `message_expired`, `forbidden`.
 */
export async function signInWallet(
  db: Kysely<GatewaySchema>,
  signed: SignedMessage,
  now: Date,
): Promise<{ account: AccountRow; key: CreatedKey }> {
  if (!isSignedBy(signed)) throw new ServiceError('invalid_signature');
  return await transaction(db, async (trx) => {
    if (!(await takeChallenge(trx, signed, now)))
      throw new ServiceError(
        'message_expired',
        'The challenge is unknown, used or expired: ask for a new one',
      );
    const account = await accountOfWallet(trx, signed.wallet);
    if (account.disabled_at !== null) throw new ServiceError('forbidden', 'The account is disabled');
    await retireExpired(trx, account.id, now);
    const expiresAt = new Date(now.getTime() + TOKEN_MS);
    return { account, key: await addKey(trx, account.id, { name: KEY_NAME, scopes: ALL_SCOPES, expiresAt }) };
  });
}

/** Tokens of earlier sign-ins would pile up in the account's list. */
async function retireExpired(db: Kysely<GatewaySchema>, accountId: number, now: Date): Promise<void> {
  await db
    .updateTable('keys')
    .set({ revoked_at: sql`now()` })
    .where('account_id', '=', accountId)
    .where('name', '=', KEY_NAME)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
}
