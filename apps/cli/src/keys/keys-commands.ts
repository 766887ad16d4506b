import { type Scope, scope } from '@orrery/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';
import type { OperationRequest } from '../operations/fill-request.js';
import { operationNamed, performOperation } from '../operations/perform-operation.js';
import { type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
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
}

const ALL_SCOPES = scope.options;

/** Loaded when a command needs it: so no other waits for the database's driver. */
const inDatabase = () => import('./keys-in-database.js');

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
      '--expires-at <time>',
      'with --own or --wallet: when it ends, such as 2027-01-01T00:00:00Z; with --own by default with the key of --key',
    );
  withServerOptions(create)
    .option('--json', 'with --own: print the data as JSON')
    .action(async (options: CreateOptions) => {
      if (options.wallet !== undefined) await signForKey({ ...options, wallet: options.wallet }, context);
      else if (options.own === true) await createOwn(options, context);
      else await (await inDatabase()).createKeyRow(options, context);
    });
  const list = keys.command('list').description('list keys').option('--account <id>', ACCOUNT, accountId);
  withServerOptions(list)
    .option('--json', 'of --key: print the data as JSON')
    .action(async (options: KeyOptions) =>
      options.account === undefined
        ? askForOwn('keys.list', { query: { limit: '100' } }, options, context)
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
        ? askForOwn('keys.revoke', { params: { id } }, options, context)
        : (await inDatabase()).revokeKeyRow(options.account, id, context),
    );
}

async function askForOwn(
  name: string,
  request: Partial<OperationRequest>,
  { json, ...options }: KeyOptions,
  context: CommandContext,
): Promise<void> {
  const server = await serverOf(options, context);
  await performOperation(operationNamed(name), request, { ...context, json, server });
}

function createOwn(options: CreateOptions, context: CommandContext): Promise<void> {
  const { name, scopes, expiresAt } = options;
  return askForOwn('keys.create', { body: { name, scopes, expiresAt } }, options, context);
}

function accountId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('An account id is a whole number from 1.');
  return Number(text);
}

function scopeList(text: string): Scope[] {
  const wanted = text.split(',').map((one) => one.trim());
  const known = ALL_SCOPES.filter((one) => wanted.includes(one));
  if (known.length !== wanted.length)
    throw new InvalidArgumentError(`The scopes are ${ALL_SCOPES.join(', ')}.`);
  return known;
}
