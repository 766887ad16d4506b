import { accountOfToken, createSignInCode } from '@orrery/gateway/accounts';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../command-context.js';
import type { Server } from '../server/find-server.js';
import { withAccounts } from '../with-database.js';

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
