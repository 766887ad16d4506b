import { describeAddress } from '@orrery/database';
import { type Logger, StartupError } from '@orrery/service-kit';
import {
  type Disagreement,
  databaseId,
  databaseIdIfMade,
  databasesIn,
  enterFirst,
  type Home,
  homesOf,
  keptHere,
  lastingDisagreements,
} from '../../store/leases/homes.js';
import { strayedPartitions } from '../../store/leases/strayed-partitions.js';
import type { DirectoryDb } from '../../store/tables/directory.js';
import type { Db } from '../../store/tables/schema.js';

/** Where this process finds its database and the directory, as it is configured. */
export interface Addresses {
  readonly databaseUrl: string;
  /** `undefined`: the directory is in the database itself. */
  readonly directoryUrl: string | undefined;
}

/** What the directory says of this process's database. */
export interface DirectoryView {
  /** The partitions that live in this database. */
  readonly homes: () => Promise<Home[]>;
}

/**
 * Refuses a database that the directory does not name, before anything is written to it. The directory is read first: the
 * process that enters a database into an empty one has made the database's id before.
 * @throws StartupError
 */
export async function refuseForeignDatabase(db: Db, directory: DirectoryDb, at: Addresses): Promise<void> {
  const named = await databasesIn(directory);
  if (named.length === 0) return;
  const id = await databaseIdIfMade(db);
  if (named.some((one) => one.id === id)) return;
  throw new StartupError(
    `The database at ${describeAddress(at.databaseUrl)} is none of those that the directory at ${directoryAddress(at)} names: correct DATABASE_URL or RUNTIME_DIRECTORY_URL.`,
  );
}

/**
 * Finds this database in the directory; the first one enters itself. From then on leases are taken only of partitions that
 * live here by both.
 * @throws StartupError where the database or the directory was restored
 */
export async function enterHome(
  db: Db,
  directory: DirectoryDb,
  at: Addresses,
  logger: Logger,
): Promise<DirectoryView> {
  const id = await databaseId(db);
  await enterFirst(directory, id, await keptHere(db));
  await refuseForeignDatabase(db, directory, at);
  const homes = () => homesOf(directory, id);
  const differing = await lastingDisagreements(db, directory);
  const restored = differing.filter(({ here }) => here > 0);
  if (restored.length > 0) throw new StartupError(disagreement(restored, at));
  // Nobody takes these: the others are served.
  const absent = differing.map(({ partition }) => partition);
  if (absent.length > 0) logger.error({ partitions: absent }, absence(at));
  const strayed = await strayedPartitions(db, directory);
  if (strayed.length > 0) logger.error({ partitions: strayed }, straying(at));
  return { homes };
}

const WHAT_TO_RUN =
  'one of the two was restored to another time: `orrery database accept-restored` says what to run (docs/operations.md, "Restoring one of two")';

const absence = (at: Addresses): string =>
  `deployments are without owner: the directory at ${directoryAddress(at)} says that their partitions live in the database at ${describeAddress(at.databaseUrl)}, which does not have them; ${WHAT_TO_RUN}`;

const straying = (at: Addresses): string =>
  `the database at ${describeAddress(at.databaseUrl)} has partitions of which the directory at ${directoryAddress(at)} says that they live in another one; ${WHAT_TO_RUN}`;

/** What is wrong, and what to do. */
export function disagreement(differing: readonly Disagreement[], at: Addresses): string {
  const [{ partition, here, there } = { partition: 0, here: 0, there: 0 }] = differing;
  const [database, directory] = [describeAddress(at.databaseUrl), directoryAddress(at)];
  const others = differing.length > 1 ? `, and ${differing.length - 1} more` : '';
  const facts = `partition ${partition} has generation ${here}, and ${there} in the directory${others}`;
  const late =
    here < there
      ? `The database at ${database} is behind the directory at ${directory}`
      : `The directory at ${directory} is behind the database at ${database}`;
  return `${late} (${facts}): it was restored or is another one; correct the address, or run \`orrery database accept-restored\` (docs/operations.md, "Restoring one of two").`;
}

const directoryAddress = ({ databaseUrl, directoryUrl }: Addresses): string =>
  describeAddress(directoryUrl ?? databaseUrl);
