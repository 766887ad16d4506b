import {
  type DirectoryDb,
  OPERATOR,
  openDirectory,
  openRuntimeDatabase,
  type RuntimeDb,
} from '@orrery/runtime/operator';
import { holding } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import { databaseIn } from './with-database.js';

type OpenOptions = Parameters<typeof openRuntimeDatabase>[0];

/** The address of the directory, where it is not in the runtime's database. */
export const directoryOf = (env: CommandContext['env']) => ({
  directoryUrl: databaseIn(env, 'RUNTIME_DIRECTORY_URL'),
});

export interface OpenHome {
  readonly runtime: RuntimeDb;
  readonly directory: DirectoryDb;
  /** Of the runtime's database. */
  readonly databaseUrl: string;
}

/** Opens the runtime's database and the directory, for `withDatabase`. */
export const openHome =
  (env: CommandContext['env'], applicationName = OPERATOR) =>
  (options: OpenOptions): Promise<AsyncDisposable & { readonly db: OpenHome }> =>
    holding(async (resources) => {
      const runtime = resources.use('database', await openRuntimeDatabase({ ...options, applicationName }));
      const where = { ...options, ...directoryOf(env), applicationName };
      const directory = resources.use('directory', await openDirectory(where));
      const db = { runtime: runtime.db, directory: directory.db, databaseUrl: options.databaseUrl };
      return { db, [Symbol.asyncDispose]: async () => undefined };
    });
