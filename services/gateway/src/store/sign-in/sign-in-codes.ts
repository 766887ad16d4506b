import { createHash, randomBytes } from 'node:crypto';
import { type CreatedKey, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type AccountRow, findAccount } from '../accounts/account-store.js';
import { addSessionKey } from '../keys/key-store.js';
import type { Db } from '../tables/schema.js';

/** How long a code can be exchanged. */
const CODE_MS = 60_000;
const KEY_NAME = 'console sign-in';

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
    return { account, key: await addSessionKey(trx, account.id, KEY_NAME, now) };
  });

const hashOf = (code: string): Buffer => createHash('sha256').update(code).digest();
