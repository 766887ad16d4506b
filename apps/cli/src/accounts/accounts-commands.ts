import type { AccountQuotas } from '@orrery/contracts';
import {
  type AccountRow,
  listAccounts,
  setAccountDisabled,
  setAccountQuotas,
} from '@orrery/gateway/accounts';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';
import { formatRows } from '../format-rows.js';
import { requireAccount, withAccounts } from '../with-database.js';

/** `orrery accounts list|disable|enable|quota`, for operators. Running services apply a change within seconds. */
export function addAccountsCommands(program: Command, context: CommandContext): void {
  const accounts = program
    .command('accounts')
    .description('list, disable and enable accounts; set their quotas');
  accounts
    .command('list')
    .description('list the accounts, 100 per page')
    .option('--page <number>', 'page number, from 1', wholeNumber, 1)
    .action(({ page }: { page: number }) => list(page, context));
  accounts
    .command('disable')
    .description('end the tokens of an account and pause its deployments')
    .argument('<id>', 'the account', wholeNumber)
    .action((id: number) => change(context, id, (db) => setAccountDisabled(db, id, true)));
  accounts
    .command('enable')
    .description('undo `disable`')
    .argument('<id>', 'the account', wholeNumber)
    .action((id: number) => change(context, id, (db) => setAccountDisabled(db, id, false)));
  accounts
    .command('quota')
    .description('replace the quotas of an account; a quota that is not given is unlimited')
    .argument('<id>', 'the account', wholeNumber)
    .option('--worlds <number>', 'number of worlds', wholeNumber)
    .option('--deployments <number>', 'number of deployments', wholeNumber)
    .option('--ai-usd-per-day <dollars>', 'cost of AI models per UTC day', dollars)
    .option('--pushes-per-day <number>', 'pushes to chains per UTC day', wholeNumber)
    .action((id: number, options: AccountQuotas) =>
      change(context, id, (db) => setAccountQuotas(db, id, options)),
    );
}

const list = (page: number, { env, write }: CommandContext): Promise<void> =>
  withAccounts(env, async (db) => {
    const rows = await listAccounts(db, { page, limit: 100 });
    write(formatRows(rows.map(lineOf), ['id', 'name', 'wallet', 'state', 'quotas', 'createdAt']));
  });

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

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function dollars(text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text))
    throw new InvalidArgumentError('It must be an amount such as 2.50.');
  return Number(text);
}
