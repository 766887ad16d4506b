import { holding, type Resources } from '@orrery/service-kit';
import type { TestProject } from 'vitest/node';
import type { Backend } from '../fixtures/describe-with.js';
import { readTestEnvironment, type TestEnvironment } from '../programs/environment.js';
import { PATIENT } from '../programs/patient-release.js';
import { startNatsServer } from '../servers/nats-server.js';
import { startRedisServer } from '../servers/redis-server.js';
import { obtainBackend } from './obtain-backend.js';
import { startRunPostgres } from './run-postgres.js';

/** Vitest's global setup: one PostgreSQL, NATS and Redis for the test run, which end with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const environment = readTestEnvironment();
  const backends = await holding(
    async (resources) => ({
      postgresUrl: await startRunPostgres(resources),
      nats: await obtainNats(environment, resources),
      redis: await obtainRedis(environment, resources),
    }),
    PATIENT,
  );
  project.provide('postgresUrl', backends.postgresUrl);
  for (const name of ['nats', 'redis'] as const) project.provide(name, backends[name]);
  const absent = describeAbsent(backends);
  if (absent !== '') project.vitest.logger.warn(`\n${absent}\n`);
  if (absent !== '' && environment.requireBackends) {
    await backends[Symbol.asyncDispose]();
    throw new Error(`REQUIRE_BACKENDS is set. ${absent}`);
  }
  return async () => backends[Symbol.asyncDispose]();
}

function obtainNats({ natsUrl: url }: TestEnvironment, resources: Resources): Promise<Backend> {
  const container = { image: 'nats:2.14-alpine', command: ['-js'], port: 4222, scheme: 'nats' };
  return obtainBackend({ program: 'nats-server', url, start: startNatsServer, container }, resources);
}

function obtainRedis({ redisUrl: url }: TestEnvironment, resources: Resources): Promise<Backend> {
  const container = {
    image: 'valkey/valkey:9.1-alpine',
    command: ['valkey-server'],
    port: 6379,
    scheme: 'redis',
  };
  return obtainBackend({ program: 'redis-server', url, start: startRedisServer, container }, resources);
}

function describeAbsent(backends: Readonly<Record<'nats' | 'redis', Backend>>): string {
  const missing = (['nats', 'redis'] as const).filter((name) => backends[name].missing !== undefined);
  return missing.map((name) => `WITHOUT ${name.toUpperCase()}: ${backends[name].missing}`).join('\n');
}
