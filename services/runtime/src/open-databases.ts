import type { Database } from '@orrery/database';
import { openBackends } from '@orrery/service-host';
import type { Resources } from '@orrery/service-kit';
import type { RuntimeConfig } from './config.js';
import type { RuntimeDependencies } from './create-context.js';
import { disagreement, enterHome, refuseForeignDatabase } from './lane/ownership/enter-home.js';
import { followHomes, type Homes } from './lane/ownership/homes.js';
import type { LeaseKeeperOptions } from './lane/ownership/lease-keeper.js';
import {
  createDeploymentDirectory,
  type DeploymentDirectory,
} from './store/deployments/deployment-directory.js';
import { type Disagreement, databaseId } from './store/leases/homes.js';
import { openDirectory } from './store/leases/open-directory.js';
import { raiseIds, spreadIdBlocks } from './store/leases/spread-ids.js';
import { copyAccountWide } from './store/runs/account-wide.js';
import type { DirectorySchema } from './store/tables/directory.js';
import { migrations } from './store/tables/migrations/index.js';
import { openPools, type Pools } from './store/tables/pools.js';
import type { RuntimeSchema } from './store/tables/schema.js';

/** This process's database, the directory that names it, and where deployments live. */
export interface OpenDatabases {
  readonly database: Database<RuntimeSchema>;
  readonly directory: Database<DirectorySchema>;
  readonly pools: Pools;
  readonly deployments: DeploymentDirectory;
  readonly home: Pick<LeaseKeeperOptions, 'homes' | 'explain'>;
  readonly homes: Homes;
}

/** Brings the tables up to date, and enters the database into the directory if that is empty. @throws StartupError */
export async function openDatabases(
  dependencies: RuntimeDependencies,
  config: RuntimeConfig,
  instance: string,
  resources: Resources,
): Promise<OpenDatabases> {
  const { bus, logger, clock } = dependencies;
  const at = { databaseUrl: dependencies.databaseUrl, directoryUrl: config.directoryUrl };
  const named = { ...at, applicationName: 'orrery-runtime', logger, clock };
  const directory = resources.use('directory', await openDirectory(named));
  const database = await openBackends<RuntimeSchema>({
    ...{ ...dependencies, service: 'runtime', schema: 'runtime', migrations, resources },
    beforeMigration: ({ db }) => refuseForeignDatabase(db, directory.db, at),
  });
  const view = await enterHome(database.db, directory.db, at, logger);
  const home = { ...view, explain: (differing: readonly Disagreement[]) => disagreement(differing, at) };
  const pools = openPools(database, config, resources);
  const hearing = new AbortController();
  resources.add('broadcasts of homes', () => hearing.abort());
  const deployments = createDeploymentDirectory(pools.lanes.db);
  const id = await databaseId(database.db);
  const homes = await followHomes({
    ...{ instance, deployments, bus, logger, clock, signal: hearing.signal },
    ...{ id, db: database.db, directory: directory.db },
    onSeveral: async () => {
      await raiseIds(database.db, directory.db);
      await spreadIdBlocks(database.db, directory.db, id);
      await copyAccountWide(database.db, directory.db);
    },
  });
  resources.add('homes of partitions', () => homes.stop());
  return { database, directory, pools, deployments, home, homes };
}
