import { holding, type Resources } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { startNatsCluster, startRedisServer, temporaryFolder } from '@orrery/testing/servers';
import {
  type Fleet,
  type FleetOptions,
  type System,
  startAllInOne,
  startFleet,
} from '@orrery/testing/system';
import { HAS_TWO_HOMES, IS_OF_TWO } from './of-one-shape.js';
import { addSecondHome } from './second-home.js';

/** Only an all-in-one with a database of its own makes these. */
const KEYS = {
  WEBHOOK_KEYS: '5a'.repeat(32),
  RANDOMNESS_KEYS: '5c'.repeat(32),
  ORRERY_SIGNING_KEY: `orrery.test+${'5b'.repeat(32)}`,
};

/** One server of three may be lost; the stream is small, since tests keep little in it. */
const ON_THREE_SERVERS = { NATS_REPLICAS: '3', NATS_MAX_MIB: '64' };

/**
 * The system that a whole flow is tested on: the all-in-one, or, where the run says so, two processes of each service on
 * three NATS servers. A flow that is about one shape alone starts that shape itself.
 */
export function startSystem(databaseUrl?: string, variables: Record<string, string> = {}): Promise<System> {
  const env = { ...KEYS, ...variables };
  if (!IS_OF_TWO) return startAllInOne(databaseUrl, env);
  return holding(async (resources) => {
    const url = databaseUrl ?? resources.use('database', await createTestDatabase()).url;
    const fleet = HAS_TWO_HOMES
      ? await startInTwoHomes(resources, url, { ...BY_ITSELF, ...env })
      : await startOnCluster(resources, { databaseUrl: url }, { ...BY_ITSELF, ...env });
    // The command finds an all-in-one by its folder.
    const server = { ORRERY_URL: fleet.url, ORRERY_KEY: fleet.key };
    return { ...fleet, commandEnv: { ...fleet.commandEnv, ...server } };
  }, PATIENT);
}

/**
 * One process of each service, and a second runtime with a database of its own, in which every second partition lives. The
 * directory has a third database.
 */
async function startInTwoHomes(
  resources: Resources,
  databaseUrl: string,
  variables: Record<string, string>,
): Promise<Fleet> {
  const [second, directory] = [
    resources.use('second database', await createTestDatabase()).url,
    resources.use('directory', await createTestDatabase()).url,
  ];
  const env = { ...variables, RUNTIME_DIRECTORY_URL: directory };
  const fleet = await startOnCluster(resources, { databaseUrl, each: 1 }, env);
  await addSecondHome(fleet, { first: databaseUrl, second, directory });
  return { ...fleet, homes: [databaseUrl, second] };
}

/** What the all-in-one has by itself on loopback. */
const BY_ITSELF = { RATE_LIMITS: 'false' };

/** How long a system may take to end, in milliseconds: ten processes one after the other, a second on a quiet machine. */
export const SYSTEM_END_MS = 120_000;

/** Starts a fleet on three NATS servers and Redis of its own. */
export async function startOnCluster(
  resources: Resources,
  options: Omit<FleetOptions, 'natsUrl'>,
  env: Record<string, string> = {},
): Promise<Fleet> {
  const folder = await temporaryFolder(resources, 'nats');
  const nats = resources.use('nats', await startNatsCluster({ folder, servers: 3 }));
  const redis = resources.use('redis', await startRedisServer());
  const backends = { ...options, natsUrl: nats.url(), redisUrl: redis.url };
  return resources.use('fleet', await startFleet(backends, { ...ON_THREE_SERVERS, ...env }), SYSTEM_END_MS);
}
