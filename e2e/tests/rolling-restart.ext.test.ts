import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, describeWithRedis } from '@orrery/testing';
import type { Fleet } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findViolations } from '../src/invariants/find-violations.js';
import { counterWorld } from '../src/load/counter-world.js';
import { pooledClient } from '../src/load/pooled-client.js';
import { startCounting } from '../src/load/start-counting.js';
import { startOnCluster } from '../src/starting/start-system.js';

const SERVICES = ['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway'] as const;
const CLIENTS = 16;
const DEPLOYMENTS = 8;
/** Executions between one replacement and the next. */
const BETWEEN = 50;

describeWithNats(
  'two of each service on three NATS servers',
  () => describeWithRedis('and Redis', suite, { own: true }),
  { own: true },
);

function suite(): void {
  const resources = new Resources({ releaseTimeoutMs: 20_000 });
  let fleet: Fleet;
  beforeAll(async () => {
    const database = resources.use('database', await createTestDatabase());
    fleet = await startOnCluster(resources, { databaseUrl: database.url }, { RATE_LIMITS: 'false' });
  }, 120_000);
  afterAll(() => resources.release());

  it('lose, fail and repeat no request while every process is replaced', async () => {
    using api = pooledClient(fleet.url, fleet.key, CLIENTS);
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    const counting = startCounting({ api, deployments, clients: CLIENTS, patienceMs: 200_000 });
    await counting.acknowledged(BETWEEN);
    for (const service of SERVICES) {
      const [first, second] = fleet.of(service);
      // A replacement is there before the first one ends; the second one ends before its replacement starts.
      await fleet.add(service);
      expect(first && (await fleet.end(first)), `${service}, first`).toBe(0);
      await counting.acknowledged(counting.count() + BETWEEN);
      expect(second && (await fleet.end(second)), `${service}, second`).toBe(0);
      await counting.acknowledged(counting.count() + BETWEEN);
      await fleet.add(service);
    }
    await counting.finish();
    const problems = [...(await counting.problems()), ...(await findViolations(fleet.databaseUrl))];
    process.stdout.write(
      `10 processes replaced: ${counting.count()} requests, ${counting.interruptions().length} failed, ${problems.length} lost or twice; ${api.resent()} sent again on a new connection\n`,
    );
    expect(counting.interruptions()).toEqual([]);
    expect(problems).toEqual([]);
  });
}
