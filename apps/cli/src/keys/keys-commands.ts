import { type Scope, scope } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import { performNamed } from '../operations/perform-operation.js';
import { type ServerOptions, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { numberLike } from '../terminal/options.js';
import { signForKey } from './sign-for-key.js';

interface KeyOptions extends ServerOptions {
  readonly account?: number;
  readonly json?: true;
}

interface CreateOptions extends KeyOptions {
  readonly name: string;
  readonly own?: true;
  readonly wallet?: string;
  readonly scopes: Scope[];
  readonly expiresAt?: string;
  readonly yes?: true;
}

const accountId = numberLike(/^[1-9]\d{0,14}$/, 'An account id is a whole number from 1.');
const ALL_SCOPES = scope.options;

/** Loaded when a command needs it: so no other waits for the database's driver. */
const inDatabase = () => import('../operator/accounts-and-keys.js');

const ACCOUNT = 'its owner, as the operator, in the database; by default the account of --key';

/**
 * `orrery keys create|list|revoke`: of one's own account over the API, of any account in the database, where the operator
 * needs no key.
 */
export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys');
  const create = keys
    .command('create')
    .description(
      'create a key, which is shown only now: with --own of your account, with --wallet of that of a wallet, else as the operator of a new account',
    )
    .option(
      '--own',
      'a key of your own account, that of --key; otherwise the operator creates one in the database',
    )
    .option('--name <name>', 'what the key is for', 'operator')
    .option('--account <id>', 'as the operator: its owner; without it a new account is created', accountId)
    .option('--scopes <list>', 'separated by commas', scopeList, [...ALL_SCOPES])
    .option(
      '--wallet <file>',
      'signed by a wallet, which gets an account with its first signature where sign-up is open',
    )
    .option(
      '--yes',
      'with --wallet: sign without asking where the server names itself otherwise than its address',
    )
    .option(
      '--expires-at <time>',
      'when it ends, such as 2027-01-01T00:00:00Z; with --own by default with the key of --key, otherwise never',
    );
  withServerOptions(create)
    .option('--json', 'with --own: print the data as JSON')
    .action(async (options: CreateOptions) => {
      if (options.wallet !== undefined) await signForKey(options.wallet, options, context);
      else if (options.own === true) {
        const { name, scopes, expiresAt } = options;
        const request = { body: { name, scopes, expiresAt } };
        await performNamed('keys.create', () => request, options, context);
      } else {
        refuseServerOptions(options);
        await (await inDatabase()).createKeyRow(options, context);
      }
    });
  const list = keys.command('list').description('list keys').option('--account <id>', ACCOUNT, accountId);
  withServerOptions(list)
    .option('--json', 'of --key: print the data as JSON')
    .action(async (options: KeyOptions) =>
      options.account === undefined
        ? performNamed('keys.list', () => ({}), { ...options, all: true }, context)
        : (await inDatabase()).listKeyRows(options.account, context),
    );
  const revoke = keys
    .command('revoke')
    .description('revoke a key and those that it made, everywhere within a second')
    .argument('<keyId>', 'the id of the key, as `list` shows it')
    .option('--account <id>', ACCOUNT, accountId);
  withServerOptions(revoke)
    .option('--json', 'of --key: print the data as JSON')
    .action(async (id: string, options: KeyOptions) =>
      options.account === undefined
        ? performNamed('keys.revoke', () => ({ params: { id } }), options, context)
        : (await inDatabase()).revokeKeyRow(options.account, id, context),
    );
}

/** The operator's keys are made in the database of `DATABASE_URL`, whichever server is named. */
function refuseServerOptions({ url, key, json }: CreateOptions): void {
  const given = Object.entries({ '--url': url, '--key': key, '--json': json }).find(([, value]) => value);
  if (given === undefined) return;
  throw new StartupError(
    `${given[0]} goes with --own, a key of your own account over the API. Without --own and --wallet the operator creates a key in the database (DATABASE_URL).`,
  );
}

function scopeList(text: string): Scope[] {
  const wanted = text.split(',').map((one) => one.trim());
  const known = ALL_SCOPES.filter((one) => wanted.includes(one));
  if (known.length !== wanted.length)
    throw new InvalidArgumentError(`The scopes are ${ALL_SCOPES.join(', ')}.`);
  return known;
}
