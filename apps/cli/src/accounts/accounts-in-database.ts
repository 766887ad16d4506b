import type { AccountQuotas } from '@orrery/contracts';
import {
  type AccountRow,
  listAccounts,
  setAccountDisabled,
  setAccountQuotas,
} from '@orrery/gateway/accounts';
import type { CommandContext } from '../command-context.js';
import { formatRows } from '../format-rows.js';
import { requireAccount, withAccounts } from '../with-database.js';

export const listAccountRows = (page: number, { env, write }: CommandContext): Promise<void> =>
  withAccounts(env, async (db) => {
    const rows = await listAccounts(db, { page, limit: 100 });
    write(formatRows(rows.map(lineOf), ['id', 'name', 'wallet', 'state', 'quotas', 'createdAt']));
  });

export const disableAccount = (id: number, disabled: boolean, context: CommandContext): Promise<void> =>
  change(context, id, (db) => setAccountDisabled(db, id, disabled));

export const setQuotas = (id: number, quotas: AccountQuotas, context: CommandContext): Promise<void> =>
  change(context, id, (db) => setAccountQuotas(db, id, quotas));

type Work = Parameters<typeof withAccounts>[1];
type Database = Parameters<Work>[0];

function change(
  { env, write }: CommandContext,
  id: number,
  work: (db: Database) => Promise<AccountRow>,
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
