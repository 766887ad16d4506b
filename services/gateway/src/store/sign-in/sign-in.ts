import { createHash, randomBytes } from 'node:crypto';
import { type AccountQuotas, type CreatedKey, ServiceError, type SignedKey } from '@orrery/contracts';
import { jsonb, transaction } from '@orrery/database';
import { sql } from 'kysely';
import { type AccountRow, announceAccount, findAccount, lockAccount } from '../accounts/account-store.js';
import { addKeyWithinLimit, addSessionKey } from '../keys/key-store.js';
import type { Db, Trx } from '../tables/schema.js';

const WALLET_KEY = 'wallet sign-in';

/**
 * Takes a challenge whose signature was verified, finds or creates the account and creates the key: one that was signed
 * for, or one with all scopes for a day. All in one transaction: a failed sign-in keeps the challenge.
 *
 * @param signer the wallet as its account is stored; the challenge may name it with a chain
 * @throws ServiceError `message_expired`, `forbidden`, `limit_reached`.
 */
export const signInWallet = (
  db: Db,
  signed: Pick<Challenge, 'wallet' | 'message'>,
  { signer, now, quotas }: { signer: string; now: Date; quotas: AccountQuotas },
): Promise<{ account: AccountRow; key: CreatedKey }> =>
  transaction(db, async (trx) => {
    const challenge = await takeChallenge(trx, signed, now);
    if (challenge === undefined)
      throw new ServiceError(
        'message_expired',
        'The challenge is unknown, used or expired. Ask for a new one.',
      );
    const account = await accountOfWallet(trx, signer, quotas);
    if (account.disabled_at !== null) throw new ServiceError('forbidden', 'The account is disabled.');
    const { key } = challenge;
    if (key === null) return { account, key: await addSessionKey(trx, account.id, WALLET_KEY, now) };
    await lockAccount(trx, account.id);
    const expiresAt = key.expiresAt === null ? null : new Date(key.expiresAt);
    return { account, key: await addKeyWithinLimit(trx, account.id, { ...key, expiresAt }) };
  });

/** The account of a wallet, created at its first sign-in. Two first sign-ins at once end with one account. */
async function accountOfWallet(trx: Trx, wallet: string, quotas: AccountQuotas): Promise<AccountRow> {
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

interface Challenge {
  wallet: string;
  message: string;
  expiresAt: Date;
  /** The key that is signed for; null for a sign-in. */
  key: SignedKey | null;
}

/** Stores a challenge and deletes up to 100 expired ones. */
export async function storeChallenge(db: Db, { wallet, message, expiresAt, key }: Challenge): Promise<void> {
  await sql`
    delete from challenges where (wallet, message) in (
      select wallet, message from challenges where expires_at < now() limit 100 for update skip locked
    )`.execute(db);
  const row = { wallet, message, expires_at: expiresAt, key: key && jsonb(key) };
  await db.insertInto('challenges').values(row).execute();
}

/** Deletes a challenge and returns what it is for, to exactly one caller over all replicas; undefined to others. */
async function takeChallenge(
  db: Db,
  { wallet, message }: Pick<Challenge, 'wallet' | 'message'>,
  now: Date,
): Promise<Pick<Challenge, 'key'> | undefined> {
  return await db
    .deleteFrom('challenges')
    .where('wallet', '=', wallet)
    .where('message', '=', message)
    .where('expires_at', '>', now)
    .returning('key')
    .executeTakeFirst();
}

/** How long a code can be exchanged. */
const CODE_MS = 60_000;
const CONSOLE_KEY = 'console sign-in';

/**
 * Creates a code that signs a browser in as an account, once and for a minute. It is shown to the person at the machine,
 * in a link: unlike a key it is worth nothing afterwards, wherever the link is kept.
 */
export async function createSignInCode(db: Db, accountId: number, now: Date): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  await db.deleteFrom('sign_in_codes').where('expires_at', '<=', now).execute();
  const expiresAt = new Date(now.getTime() + CODE_MS);
  await db
    .insertInto('sign_in_codes')
    .values({ hash: hashOf(code), account_id: accountId, expires_at: expiresAt })
    .execute();
  return code;
}

/**
 * Takes the code and creates the key, in one transaction: a failed exchange keeps the code.
 *
 * @throws ServiceError `sign_in_code_invalid`, `forbidden`.
 */
export const exchangeSignInCode = (
  db: Db,
  code: string,
  now: Date,
): Promise<{ account: AccountRow; key: CreatedKey }> =>
  transaction(db, async (trx) => {
    const taken = await trx
      .deleteFrom('sign_in_codes')
      .where('hash', '=', hashOf(code))
      .where('expires_at', '>', now)
      .returning('account_id')
      .executeTakeFirst();
    const account = taken && (await findAccount(trx, taken.account_id));
    if (account === undefined)
      throw new ServiceError(
        'sign_in_code_invalid',
        'The code is unknown, was used before, or is older than 60 seconds. `orrery console` prints a link with a new one.',
      );
    if (account.disabled_at !== null) throw new ServiceError('forbidden', 'The account is disabled.');
    return { account, key: await addSessionKey(trx, account.id, CONSOLE_KEY, now) };
  });

const hashOf = (code: string): Buffer => createHash('sha256').update(code).digest();
