import { connect, type Database, migrate } from '@orrery/database';
import type { Logger } from '@orrery/service-kit';
import { OPERATOR } from './store/leases/moves/look-at-move.js';
import { migrations } from './store/tables/migrations/index.js';
import type { RuntimeSchema } from './store/tables/schema.js';

export {
  findOperatorPause,
  type OperatorPause,
  requestOperatorPause,
} from './store/deployments/account-store.js';
export { askElsewhere, findElsewhere, isDoneElsewhere } from './store/deployments/pauses-elsewhere.js';
export { finishUpgrade } from './store/journal/journal-form.js';
export { acceptDisagreements } from './store/leases/accept-restored.js';
export {
  addDatabase,
  isDatabaseNamed,
  listDatabases,
} from './store/leases/add-database.js';
export { keptHere, lastingDisagreements } from './store/leases/homes.js';
export { listPartitions, type PartitionRow } from './store/leases/list-partitions.js';
export { lookAtMove, type MoveView, OPERATOR } from './store/leases/moves/look-at-move.js';
export { moveEmptyPartition } from './store/leases/moves/move-empty.js';
export type { MoveNews } from './store/leases/moves/move-news.js';
export {
  abortMove,
  cleanMoved,
  type MoveOptions,
  type MoveStep,
  movePartition,
} from './store/leases/moves/move-partition.js';
export type { MoveProgress } from './store/leases/moves/wait-for-target.js';
export { openDirectory } from './store/leases/open-directory.js';
export { type PartitionLoad, type ProposedMove, proposeMoves } from './store/leases/propose-moves.js';
export { type Absent, absentPartitions, strayedPartitions } from './store/leases/strayed-partitions.js';
export type { DirectoryDb } from './store/tables/directory.js';
export type { Db as RuntimeDb, RuntimeSchema } from './store/tables/schema.js';

/** Connects to the runtime's schema and brings it up to date. @throws StartupError that says what to do. */
export async function openRuntimeDatabase(options: {
  databaseUrl: string;
  logger: Logger;
  maxConnections?: number;
  applicationName?: string;
}): Promise<Database<RuntimeSchema>> {
  const { databaseUrl: url, ...rest } = options;
  const database = await connect<RuntimeSchema>({
    applicationName: OPERATOR,
    ...rest,
    url,
    schema: 'runtime',
  });
  try {
    await migrate({ database, migrations, logger: options.logger });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
