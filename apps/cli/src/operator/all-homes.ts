import {
  type DirectoryDb,
  isDatabaseNamed,
  listDatabases,
  listPartitions,
  openRuntimeDatabase,
  type PartitionRow,
  type RuntimeDb,
} from '@orrery/runtime/operator';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../terminal/context.js';
import type { OpenHome } from './open-home.js';
import { commandLogger, databaseIn } from './with-database.js';

/** The variable with the address of a database: the directory has none, as addresses hold passwords. */
export const addressVariable = (name: string): string => `DATABASE_URL_${name.toUpperCase()}`;

export interface AllHomes {
  /** The names of all databases, in their order. */
  readonly databases: readonly string[];
  /** The name of the runtime's database; `undefined` for one that is not named. */
  readonly own: string | undefined;
  /** Those whose address no variable tells. */
  readonly unknown: readonly string[];
  /** All partitions, with what each database has that could be asked. */
  readonly partitions: readonly PartitionRow[];
}

/** What all databases have that the directory names: the runtime's own, and those whose address a variable tells. */
export async function listInAll(env: CommandContext['env'], home: BothOf): Promise<AllHomes> {
  const { runtime, directory } = home;
  let partitions = await listPartitions(runtime, directory);
  const visited = await visitOthers(env, home, async (db) => {
    partitions = merge(partitions, await listPartitions(db, directory));
  });
  return { ...visited, partitions };
}

type BothOf = Pick<OpenHome, 'runtime' | 'directory'>;

/**
 * Works at each other database whose address a variable tells, in the order of their names.
 * @throws StartupError where a variable has the address of another database than the directory names so
 */
export async function visitOthers(
  env: CommandContext['env'],
  { runtime, directory }: BothOf,
  work?: (db: RuntimeDb, name: string) => Promise<void>,
): Promise<Omit<AllHomes, 'partitions'>> {
  const databases = (await listDatabases(directory)).map(({ name }) => name);
  const unknown: string[] = [];
  let own: string | undefined;
  for (const name of databases) {
    const databaseUrl = databaseIn(env, addressVariable(name));
    if (await isDatabaseNamed(runtime, directory, name)) own = name;
    else if (!databaseUrl) unknown.push(name);
    else if (work !== undefined) await workAt(databaseUrl, name, directory, work);
  }
  return { databases, own, unknown };
}

async function workAt(
  databaseUrl: string,
  name: string,
  directory: DirectoryDb,
  work: (db: RuntimeDb, name: string) => Promise<void>,
): Promise<void> {
  await using other = await openRuntimeDatabase({ databaseUrl, logger: commandLogger(), maxConnections: 1 });
  if (await isDatabaseNamed(other.db, directory, name)) return await work(other.db, name);
  throw new StartupError(
    `${addressVariable(name)} has the address of another database than the directory names ${name}.`,
  );
}

const merge = (rows: readonly PartitionRow[], others: readonly PartitionRow[]): PartitionRow[] =>
  rows.map((row, place) => ({ ...row, here: row.here ?? others[place]?.here ?? null }));
