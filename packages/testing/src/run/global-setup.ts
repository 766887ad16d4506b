import { holding } from '@orrery/service-kit';
import type { TestProject } from 'vitest/node';
import { PATIENT } from '../programs/patient-release.js';
import { startNatsServer } from '../servers/nats-server.js';
import { startRedisServer } from '../servers/redis-server.js';
import { obtainBackend } from './obtain-backend.js';
import { startRunPostgres } from './run-postgres.js';

/**
 * Vitest's global setup: one PostgreSQL, NATS and Redis for the test run, which end with it. `TEST_NATS_URL` and
 * `TEST_REDIS_URL` name running servers to use; with `REQUIRE_BACKENDS=1` a missing one is a failure, not a skip.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { TEST_NATS_URL, TEST_REDIS_URL, REQUIRE_BACKENDS } = process.env;
  const nats = {
    program: 'nats-server',
    url: TEST_NATS_URL || undefined,
    start: startNatsServer,
    container: { image: 'nats:2.14-alpine', command: ['-js'], port: 4222, scheme: 'nats' },
  } as const;
  const redis = {
    program: 'redis-server',
    url: TEST_REDIS_URL || undefined,
    start: startRedisServer,
    container: {
      image: 'valkey/valkey:9.1-alpine',
      command: ['valkey-server'],
      port: 6379,
      scheme: 'redis',
    },
  } as const;
  const backends = await holding(
    async (resources) => ({
      postgresUrl: await startRunPostgres(resources),
      nats: await obtainBackend(nats, resources),
      redis: await obtainBackend(redis, resources),
    }),
    PATIENT,
  );
  project.provide('postgresUrl', backends.postgresUrl);
  const absent: string[] = [];
  for (const name of ['nats', 'redis'] as const) {
    const { missing } = backends[name];
    project.provide(name, backends[name]);
    if (missing !== undefined) absent.push(`WITHOUT ${name.toUpperCase()}: ${missing}`);
  }
  if (absent.length > 0) project.vitest.logger.warn(`\n${absent.join('\n')}\n`);
  if (absent.length > 0 && REQUIRE_BACKENDS === '1') {
    await backends[Symbol.asyncDispose]();
    throw new Error(`REQUIRE_BACKENDS is set. ${absent.join('\n')}`);
  }
  return async () => backends[Symbol.asyncDispose]();
}
