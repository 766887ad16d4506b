import type { Scope } from '@orrery/contracts';
import { createAccountWithKey, createKey, listKeys, revokeKey } from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../command-context.js';
import { formatRows } from '../format-rows.js';
import { requireAccount, withAccounts } from '../with-database.js';

export interface NewKey {
  readonly name: string;
  /** Its owner; without one a new account is created. */
  readonly account?: number;
  readonly scopes: Scope[];
}

export function createKeyRow(
  { name, account, scopes }: NewKey,
  { env, write }: CommandContext,
): Promise<void> {
  return withAccounts(env, async (db) => {
    if (account !== undefined) await requireAccount(db, account);
    const owner =
      account === undefined ? await createAccountWithKey(db, { name }, { name, scopes }) : undefined;
    const key = owner?.key ?? (await createKey(db, account as number, { name, scopes }));
    write(`account ${owner?.account.id ?? account}, key ${key.id}, scopes ${key.scopes.join(',')}`);
    write(key.token);
    if (owner !== undefined)
      write(
        `Account ${owner.account.id} is new and owns nothing yet. For a key of your own account: orrery keys create --own --name ${JSON.stringify(name)}`,
      );
  });
}

export function listKeyRows(account: number, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    await requireAccount(db, account);
    const { data } = await listKeys(db, account, { page: 1, limit: 100 });
    write(formatRows(data, ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt', 'madeBy']));
  });
}

export function revokeKeyRow(account: number, keyId: string, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    const revoked = await revokeKey(db, account, keyId);
    if (revoked.length === 0)
      throw new StartupError(
        `Account ${account} has no key ${keyId}. \`orrery keys list --account ${account}\` shows its keys.`,
      );
    for (const id of revoked) write(`revoked ${id}`);
  });
}
