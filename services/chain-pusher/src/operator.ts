import { connect, migrate } from '@orrery/database';
import type { Logger } from '@orrery/service-kit';
import { migrations } from './store/tables/migrations/index.js';
import type { ChainPusherSchema } from './store/tables/schema.js';

export { listDeadLetters, type ParkedMessage, type Resolution } from '@orrery/database';
export { deployRegistry } from './chains/evm/deploy-registry.js';
export { openChain } from './chains/open-chain.js';
export { adoptionOutcome, findLane, requestAdoption } from './store/lanes/adopt-lane.js';
export { chainsOf, findDeadLetter, resolveDeadLetter } from './store/lanes/dead-letters.js';
export { listWaiting } from './store/submissions/list-waiting.js';

export interface OpenDatabaseOptions {
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly maxConnections: number;
}

/** Connects to the chain-pusher's schema and brings it up to date. @throws StartupError that says what to do. */
export async function openChainPusherDatabase({ databaseUrl, ...options }: OpenDatabaseOptions) {
  const connection = {
    ...options,
    url: databaseUrl,
    schema: 'chain_pusher',
    applicationName: 'orrery-operator',
  };
  const database = await connect<ChainPusherSchema>(connection);
  try {
    await migrate({ database, migrations, logger: options.logger });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
