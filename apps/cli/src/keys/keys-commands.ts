import type { Scope } from '@orrery/contracts';
import { ALL_SCOPES, createAccountWithKey, createKey, listKeys, revokeKey } from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';
import { formatRows } from '../format-rows.js';
import { requireAccount, withAccounts } from '../with-database.js';

interface CreateOptions {
  name: string;
  account?: number;
  scopes: Scope[];
}

/** `orrery keys create|list|revoke`, for operators. It works on the database, so it needs no key. */
export function addKeysCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('create, list and revoke API keys');
  keys
    .command('create')
    .description('create a key, which is shown only now')
    .option('--name <name>', 'what the key is for', 'operator')
    .option('--account <id>', 'owner of the key; without it a new account is created', accountId)
    .option('--scopes <list>', 'separated by commas', scopeList, [...ALL_SCOPES])
    .action((options: CreateOptions) => create(options, context));
  keys
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <id>', 'owner of the keys', accountId)
    .action(({ account }: { account: number }) => list(account, context));
  keys
    .command('revoke <keyId>')
    .description('revoke a key, everywhere within a second')
    .requiredOption('--account <id>', 'owner of the key', accountId)
    .action((keyId: string, { account }: { account: number }) => revoke(account, keyId, context));
}

function create({ name, account, scopes }: CreateOptions, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    if (account !== undefined) await requireAccount(db, account);
    const owner =
      account === undefined ? await createAccountWithKey(db, { name }, { name, scopes }) : undefined;
    const key = owner?.key ?? (await createKey(db, account as number, { name, scopes }));
    write(`account ${owner?.account.id ?? account}, key ${key.id}, scopes ${key.scopes.join(',')}`);
    write(key.token);
  });
}

function list(account: number, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    await requireAccount(db, account);
    const { data } = await listKeys(db, account, { page: 1, limit: 100 });
    write(formatRows(data, ['id', 'name', 'scopes', 'createdAt', 'expiresAt', 'lastUsedAt']));
  });
}

function revoke(account: number, keyId: string, { env, write }: CommandContext): Promise<void> {
  return withAccounts(env, async (db) => {
    if (!(await revokeKey(db, account, keyId))) {
      throw new StartupError(
        `Account ${account} has no key ${keyId}. \`orrery keys list --account ${account}\` shows its keys.`,
      );
    }
    write(`revoked ${keyId}`);
  });
}

function accountId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('An account id is a whole number from 1.');
  return Number(text);
}

function scopeList(text: string): Scope[] {
  const wanted = text.split(',').map((one) => one.trim());
  const known = ALL_SCOPES.filter((scope) => wanted.includes(scope));
  if (known.length !== wanted.length)
    throw new InvalidArgumentError(`The scopes are ${ALL_SCOPES.join(', ')}.`);
  return known;
}
