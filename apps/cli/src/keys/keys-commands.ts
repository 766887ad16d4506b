import type { Scope } from '@orrery/contracts';
import { ALL_SCOPES, createAccountWithKey, createKey, listKeys, revokeKey } from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';
import { formatRows } from '../format-rows.js';
import { withAccounts } from '../with-accounts.js';

interface CreateOptions {
  name: string;
  account?: number;
  scopes: Scope[];
}

/** `orrery keys create|list|revoke`, for operators: straight on the database, so it works before any key exists. */
export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('make, list and revoke API keys');
  keys
    .command('create')
    .description('make a key; it is shown this once')
    .option('--name <name>', 'what the key is for', 'operator')
    .option('--account <id>', 'of this account; without it a new account is made', accountId)
    .option('--scopes <list>', 'separated by commas', scopeList, [...ALL_SCOPES])
    .action((options: CreateOptions) => create(options, context));
  keys
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <id>', 'whose keys', accountId)
    .action(({ account }: { account: number }) => list(account, context));
  keys
    .command('revoke <keyId>')
    .description('revoke a key, everywhere within a second')
    .requiredOption('--account <id>', 'whose key', accountId)
    .action((keyId: string, { account }: { account: number }) => revoke(account, keyId, context));
}

function create({ name, account, scopes }: CreateOptions, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    const owner =
      account === undefined ? await createAccountWithKey(db, { name }, { name, scopes }) : undefined;
    const key = owner?.key ?? (await createKey(db, account as number, { name, scopes }));
    write(`account ${owner?.account.id ?? account}, key ${key.id}, scopes ${key.scopes.join(',')}`);
    write(key.token);
  });
}

function list(account: number, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    const { data } = await listKeys(db, account, { page: 1, limit: 100 });
    write(formatRows(data, ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt']));
  });
}

function revoke(account: number, keyId: string, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    if (!(await revokeKey(db, account, keyId))) {
      throw new StartupError(
        `Account ${account} has no key ${keyId}: see \`orrery keys list --account ${account}\`.`,
      );
    }
    write(`revoked ${keyId}`);
  });
}

function accountId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('an account id is a whole number.');
  return Number(text);
}

function scopeList(text: string): Scope[] {
  const wanted = text.split(',').map((one) => one.trim());
  const known = ALL_SCOPES.filter((scope) => wanted.includes(scope));
  if (known.length !== wanted.length) throw new InvalidArgumentError(`scopes are ${ALL_SCOPES.join(', ')}.`);
  return known;
}
