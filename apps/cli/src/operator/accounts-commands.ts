import type { AccountQuotas } from '@orrery/contracts';
import type { Command } from 'commander';
import { type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { numberLike, wholeNumber } from '../terminal/options.js';

/** As much as the services that count can store, with room. */
const count = numberLike(
  /^\d{1,9}$/,
  'It must be a whole number up to 999,999,999. A quota that is not given is unlimited.',
);
const pageNumber = numberLike(/^[1-9]\d{0,8}$/, 'Pages have numbers from 1.');
const dollars = numberLike(/^\d{1,9}(\.\d{1,6})?$/, 'It must be an amount such as 2.50.');

/** Loaded when a command needs it: so no other waits for the database's driver. */
const work = () => import('./accounts-and-keys.js');

/** `orrery accounts list|disable|enable|quota`, for operators. Running services apply a change within seconds. */
export function addAccountsCommands(program: Command, context: CommandContext): void {
  const accounts = program
    .command('accounts')
    .description('list, disable and enable accounts; set their quotas');
  accounts
    .command('list')
    .description('list the accounts, 100 per page')
    .option('--page <number>', 'page number, from 1', pageNumber, 1)
    .action(async ({ page }: { page: number }) => (await work()).listAccountRows(page, context));
  accounts
    .command('disable')
    .description('end the tokens of an account and pause its deployments')
    .argument('<id>', 'the account', wholeNumber)
    .action(async (id: number) => (await work()).disableAccount(id, true, context));
  accounts
    .command('enable')
    .description('undo `disable`')
    .argument('<id>', 'the account', wholeNumber)
    .action(async (id: number) => (await work()).disableAccount(id, false, context));
  accounts
    .command('quota')
    .description('replace the quotas of an account; a quota that is not given is unlimited')
    .argument('<id>', 'the account', wholeNumber)
    .option('--worlds <number>', 'number of worlds', count)
    .option('--deployments <number>', 'number of deployments', count)
    .option('--ai-usd-per-day <dollars>', 'cost of AI models per UTC day', dollars)
    .option('--pushes-per-day <number>', 'pushes to chains per UTC day', count)
    .action(async (id: number, options: AccountQuotas) => (await work()).setQuotas(id, options, context));
}

/** `orrery console`: a link that opens the console signed in. */
export function addConsoleCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('console')
    .description(
      'print a link that signs a browser on this machine in to the console, once and within 60 seconds',
    );
  withServerOptions(command).action(async (options: ServerOptions) =>
    (await work()).printSignInLink(await serverOf(options, context), context),
  );
}
