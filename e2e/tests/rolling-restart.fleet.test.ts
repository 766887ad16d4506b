import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, describeWithRedis, PATIENT } from '@orrery/testing';
import type { Fleet, Member } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findViolations } from '../src/invariants/find-violations.js';
import { pooledClient } from '../src/load/pooled-client.js';
import { startCounting } from '../src/load/start-counting.js';
import { startOnCluster } from '../src/starting/start-system.js';
import { counterWorld } from '../src/worlds/counter-world.js';

const SERVICES = ['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway'] as const;
/** What every request needs: of these two run at the end too. */
const KEPT: readonly string[] = ['runtime', 'gateway'];
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
  const resources = new Resources(PATIENT);
  let fleet: Fleet;
  beforeAll(async () => {
    const database = resources.use('database', await createTestDatabase());
    // The balancer notices within a tenth of a second, more on a busy machine.
    const env = { RATE_LIMITS: 'false', SHUTDOWN_DELAY_MS: '1000' };
    fleet = await startOnCluster(resources, { databaseUrl: database.url }, env);
  }, 120_000);
  afterAll(() => resources.release());

  it('lose, fail and repeat no request while every process is replaced', async () => {
    using api = pooledClient(fleet.url, fleet.key, CLIENTS);
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    const counting = startCounting({ api, deployments, clients: CLIENTS, patienceMs: 200_000 });
    await counting.acknowledged(BETWEEN);
    const end = async (member: Member) => {
      expect(await fleet.end(member), member.service).toBe(0);
      await counting.acknowledged(counting.count() + BETWEEN);
    };
    for (const service of SERVICES) {
      const [first, second] = fleet.of(service);
      if (first === undefined || second === undefined) throw new Error(`there are no two of ${service}`);
      // A replacement is there before the first one ends; the second one ends, and its replacement starts then.
      await fleet.add(service);
      await end(first);
      await end(second);
      if (KEPT.includes(service)) await fleet.add(service);
    }
    await counting.finish();
    const problems = [...(await counting.problems()), ...(await findViolations(fleet.databaseUrl))];
    process.stdout.write(
      `10 processes ended: ${counting.count()} requests, ${counting.interruptions().length} failed, ${problems.length} lost or twice; ${api.resent()} sent again on a new connection\n`,
    );
    expect(counting.interruptions()).toEqual([]);
    expect(problems).toEqual([]);
  });
}
