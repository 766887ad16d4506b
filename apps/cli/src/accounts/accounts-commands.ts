import { type AccountQuotas, ServiceError } from '@orrery/contracts';
import {
  type AccountRow,
  listAccounts,
  setAccountDisabled,
  setAccountQuotas,
} from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';
import { formatRows } from '../format-rows.js';
import { withAccounts } from '../with-accounts.js';

/** `orrery accounts list|disable|enable|quota`, for operators. Running services follow within seconds. */
export function addAccountsCommands(program: Command, context: CommandContext): void {
  const accounts = program
    .command('accounts')
    .description('list accounts, switch them off and on, bound them');
  accounts
    .command('list')
    .description('list the accounts, a hundred a page')
    .option('--page <number>', 'from 1', wholeNumber, 1)
    .action(({ page }: { page: number }) => list(page, context));
  accounts
    .command('disable')
    .description('end its tokens and pause its deployments')
    .argument('<id>', 'the account', wholeNumber)
    .action((id: number) => change(context, (db) => setAccountDisabled(db, id, true)));
  accounts
    .command('enable')
    .description('undo what disable did')
    .argument('<id>', 'the account', wholeNumber)
    .action((id: number) => change(context, (db) => setAccountDisabled(db, id, false)));
  accounts
    .command('quota')
    .description('replace its quotas; what is not named is not limited')
    .argument('<id>', 'the account', wholeNumber)
    .option('--worlds <number>', 'worlds it may have', wholeNumber)
    .option('--deployments <number>', 'deployments it may have', wholeNumber)
    .option('--ai-usd-per-day <dollars>', 'what its models may cost in a UTC day', dollars)
    .option('--pushes-per-day <number>', 'pushes to chains in a UTC day', wholeNumber)
    .action((id: number, options: AccountQuotas) =>
      change(context, (db) => setAccountQuotas(db, id, options)),
    );
}

const list = (page: number, { env, write }: CommandContext): Promise<void> =>
  withAccounts(env, async (db) => {
    const rows = await listAccounts(db, { page, limit: 100 });
    write(formatRows(rows.map(lineOf), ['id', 'name', 'wallet', 'state', 'quotas', 'createdAt']));
  });

type Work = Parameters<typeof withAccounts>[1];
type Database = Parameters<Work>[0];

function change({ env, write }: CommandContext, work: (db: Database) => Promise<AccountRow>): Promise<void> {
  return withAccounts(env, async (db) => {
    const account = await work(db).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'account_not_found')
        throw new StartupError(`${error.message}: see \`orrery accounts list\`.`);
      throw error;
    });
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
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('a whole number.');
  return Number(text);
}

function dollars(text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new InvalidArgumentError('an amount such as 2.50.');
  return Number(text);
}
