import { type AccountQuotas, type CreatedKey, ServiceError } from '@orrery/contracts';
import { jsonb, transaction } from '@orrery/database';
import type { Transaction } from 'kysely';
import { type AccountRow, lockAccount } from '../accounts/account-store.js';
import { announceAccount } from '../accounts/change-account.js';
import { addKeyWithinLimit } from '../accounts/create-key.js';
import type { GatewaySchema } from '../database/schema.js';
import { isSignedBy, type SignedMessage } from '../public/signature/verify-signature.js';
import { takeChallenge } from './challenge-store.js';
import type { SignInContext } from './handlers.js';
import { addSessionKey } from './session-key.js';

const KEY_NAME = 'wallet sign-in';

/**
 * Verifies the signature, takes the challenge, finds or creates the account and creates the key: one that was signed for,
 * or one with all scopes for a day. The signature comes
 * first, so that only the wallet's owner can use up its challenge. The rest is one transaction: a failed sign-in keeps
 * the challenge.
 *
 * @throws ServiceError `invalid_signature`, `message_expired`, `forbidden`, `limit_reached`.
 */
export async function signInWallet(
  { db, clock, signIn }: SignInContext,
  signed: SignedMessage,
): Promise<{ account: AccountRow; key: CreatedKey }> {
  const now = new Date(clock.now());
  if (!(await isSignedBy(signed))) throw new ServiceError('invalid_signature');
  return await transaction(db, async (trx) => {
    const challenge = await takeChallenge(trx, signed, now);
    if (challenge === undefined)
      throw new ServiceError(
        'message_expired',
        'The challenge is unknown, used or expired. Ask for a new one.',
      );
    const account = await accountOfWallet(trx, signed.wallet, signIn.quotas);
    if (account.disabled_at !== null) throw new ServiceError('forbidden', 'The account is disabled.');
    const { key } = challenge;
    if (key === null) return { account, key: await addSessionKey(trx, account.id, KEY_NAME, now) };
    await lockAccount(trx, account.id);
    const expiresAt = key.expiresAt === null ? null : new Date(key.expiresAt);
    return { account, key: await addKeyWithinLimit(trx, account.id, { ...key, expiresAt }) };
  });
}

/** The account of a wallet, created at its first sign-in. Two first sign-ins at once end with one account. */
async function accountOfWallet(
  trx: Transaction<GatewaySchema>,
  wallet: string,
  quotas: AccountQuotas,
): Promise<AccountRow> {
  const created = await trx
    .insertInto('accounts')
    .values({ name: wallet, wallet, quotas: jsonb(quotas) })
    .onConflict((conflict) => conflict.column('wallet').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (created !== undefined) {
    await announceAccount(trx, created);
    return created;
  }
  return await trx.selectFrom('accounts').selectAll().where('wallet', '=', wallet).executeTakeFirstOrThrow();
}
