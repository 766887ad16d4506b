import type { AccountQuotas, Scope } from '@orrery/contracts';
import {
  type AccountRow,
  accountOfToken,
  createAccountWithKey,
  createKey,
  createSignInCode,
  findAccount,
  type GatewaySchema,
  listAccounts,
  listKeys,
  openDatabase,
  revokeKey,
  setAccountDisabled,
  setAccountQuotas,
} from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Server } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { formatRows } from '../terminal/format-rows.js';
import { withDatabase } from './with-database.js';

/** Opens the gateway's accounts for one command. */
const withAccounts = (
  env: CommandContext['env'],
  work: (db: Kysely<GatewaySchema>) => Promise<void>,
): Promise<void> => withDatabase(env, openDatabase, work);

/** @throws StartupError when there is no such account. */
async function requireAccount(db: Kysely<GatewaySchema>, id: number): Promise<void> {
  if ((await findAccount(db, id)) === undefined)
    throw new StartupError(`There is no account ${id}. \`orrery accounts list\` shows those that exist.`);
}

export const listAccountRows = (page: number, { env, write }: CommandContext): Promise<void> =>
  withAccounts(env, async (db) => {
    const rows = await listAccounts(db, { page, limit: 100 });
    write(formatRows(rows.map(lineOf), ['id', 'name', 'wallet', 'state', 'quotas', 'createdAt']));
  });

export const disableAccount = (id: number, disabled: boolean, context: CommandContext): Promise<void> =>
  change(context, id, (db) => setAccountDisabled(db, id, disabled));

export const setQuotas = (id: number, quotas: AccountQuotas, context: CommandContext): Promise<void> =>
  change(context, id, (db) => setAccountQuotas(db, id, quotas));

function change(
  { env, write }: CommandContext,
  id: number,
  work: (db: Kysely<GatewaySchema>) => Promise<AccountRow>,
): Promise<void> {
  return withAccounts(env, async (db) => {
    await requireAccount(db, id);
    const account = await work(db);
    const { state, quotas } = lineOf(account);
    write(`account ${account.id} is ${state}, quotas ${quotas}`);
  });
}

const lineOf = ({ id, name, wallet, disabled_at, quotas, created_at }: AccountRow) => ({
  id,
  name,
  wallet,
  state: disabled_at === null ? 'enabled' : 'disabled',
  quotas: textOf(quotas),
  createdAt: created_at.toISOString(),
});

function textOf(quotas: AccountQuotas): string {
  const limits = Object.entries(quotas).map(([what, limit]) => `${what}=${limit}`);
  return limits.length === 0 ? 'none' : limits.join(',');
}

interface NewKey {
  readonly name: string;
  /** Its owner; without one a new account is created. */
  readonly account?: number;
  readonly scopes: Scope[];
  /** When it ends; without it never. */
  readonly expiresAt?: string;
}

export function createKeyRow(
  { name, account, scopes, expiresAt: text }: NewKey,
  { env, write }: CommandContext,
): Promise<void> {
  const expiresAt = text === undefined ? null : timeOf(text);
  return withAccounts(env, async (db) => {
    if (account !== undefined) await requireAccount(db, account);
    const owner =
      account === undefined
        ? await createAccountWithKey(db, { name }, { name, scopes, expiresAt })
        : undefined;
    const key = owner?.key ?? (await createKey(db, account as number, { name, scopes, expiresAt }));
    write(`account ${owner?.account.id ?? account}, key ${key.id}, scopes ${key.scopes.join(',')}`);
    write(key.token);
    if (owner !== undefined)
      write(
        `Account ${owner.account.id} is new and owns nothing yet. For a key of your own account: orrery keys create --own --name ${JSON.stringify(name)}`,
      );
  });
}

/** @throws StartupError for another text, and for a time that has passed */
function timeOf(text: string): Date {
  const { success } = z.iso.datetime({ offset: true }).safeParse(text);
  const time = new Date(text);
  if (success && time.getTime() > Date.now()) return time;
  throw new StartupError(`--expires-at ${text} is no time that is to come: 2027-01-01T00:00:00Z is one.`);
}

export function listKeyRows(account: number, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    await requireAccount(db, account);
    const keys: object[] = [];
    for (let [page, pages] = [1, 1]; page <= pages; page += 1) {
      const { data, pagination } = await listKeys(db, account, { page, limit: 100 });
      keys.push(...data);
      pages = pagination.totalPages;
    }
    write(formatRows(keys, ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt', 'madeBy']));
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

/** The code comes from the database, so whoever prints it can read the database and has a key. */
export function printSignInLink({ url, key }: Server, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    const account = await accountOfToken(db, key);
    if (account === undefined)
      throw new StartupError(
        'The key is not valid in this database: run this where Orrery was started, or pass --key.',
      );
    const code = await createSignInCode(db, account, new Date());
    write(`${url}/console/sign-in#code=${code}`);
  });
}
