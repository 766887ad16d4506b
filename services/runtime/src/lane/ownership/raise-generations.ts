import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { databaseId, homesOf, raiseHere, raiseThere } from '../../store/leases/homes.js';
import type { DirectoryDb } from '../../store/tables/directory.js';
import type { Db } from '../../store/tables/schema.js';

/** How often generations are raised, in milliseconds: what a restore takes back beyond it is recognised. */
const RAISE_MS = 10_000;

interface Raising {
  readonly db: Db;
  readonly directory: DirectoryDb;
  readonly instance: string;
}

/**
 * Raises the generations of the partitions that this process holds, in the database and then in the directory, so that one
 * of the two that goes back in time is behind the other. One that stops in between is followed by one that ends it.
 */
export async function raiseGenerations({ db, directory, instance }: Raising): Promise<void> {
  const id = await databaseId(db);
  const raised = await raiseHere(db, instance, await homesOf(directory, id));
  if (raised.length > 0) await raiseThere(directory, id, raised);
}

/** For a directory elsewhere: one in the database itself goes back with it. */
export const startRaisingGenerations = (
  options: Raising & { readonly clock: Clock; readonly logger: Logger },
): PollLoop =>
  startPollLoop({
    ...options,
    name: 'generations of partitions',
    intervalMs: RAISE_MS,
    maxBackoffMs: RAISE_MS,
    runOnce: async () => {
      await raiseGenerations(options);
      return 'idle';
    },
  });
