import { Resources } from '@orrery/service-kit';
import { describeWithNats, PATIENT } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { type PatroniCluster, startPatroniCluster } from '../src/external/patroni-cluster.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { startCounting } from '../src/load/start-counting.js';
import { counterWorld } from '../src/worlds/counter-world.js';

const DEPLOYMENTS = 8;
const CLIENTS = 64;

describeWithNats('five processes on PostgreSQL under Patroni', suite, { own: true });

function suite(): void {
  const resources = new Resources(PATIENT);
  let cluster: PatroniCluster;
  let system: FiveProcesses;
  beforeAll(async () => {
    const startedAt = performance.now();
    cluster = resources.use('patroni', await startPatroniCluster());
    process.stdout.write(`Patroni: whole after ${since(startedAt)}\n`);
    const administrator = new Client({ port: (await cluster.leader()).port, ...LOCAL });
    await administrator.connect();
    await administrator.query('create database orrery');
    await administrator.end();
    const { url: natsUrl } = resources.use('nats', await startNatsServer());
    const backends = { databaseUrl: cluster.urlOf('orrery'), natsUrl };
    system = resources.use('system', await startFiveProcesses(backends, { RATE_LIMITS: 'false' }));
  }, 120_000);
  afterAll(() => resources.release(), 90_000);

  it('lose nothing that was acknowledged when the leader dies, which comes back as a standby', async () => {
    const api = apiClient(system.url, system.key);
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    const counting = startCounting({ api, deployments, clients: CLIENTS, patienceMs: 240_000 });
    await counting.acknowledged(500);
    const killed = await cluster.leader();
    await killed.kill();
    const killedAt = performance.now();
    const next = await cluster.leader();
    const promoted = since(killedAt);
    expect(next.name).not.toBe(killed.name);
    // More than were under way when it died.
    await counting.acknowledged(counting.count() + CLIENTS + 1);
    const served = since(killedAt);
    killed.restart();
    await cluster.untilWhole();
    process.stdout.write(
      `the leader killed: another after ${promoted}, executions after ${served}, a standby again after ${since(killedAt)}\n`,
    );
    await counting.finish();
    const leader = await cluster.leader();
    const stored = `postgres://orrery@127.0.0.1:${leader.port}/orrery`;
    const problems = [...(await counting.problems()), ...(await findViolations(stored))];
    process.stdout.write(
      `${counting.count()} acknowledged, ${counting.interruptions().length} asked for again, ${problems.length} lost or twice\n`,
    );
    expect(problems).toEqual([]);
  });
}

const LOCAL = { host: '127.0.0.1', user: 'orrery', database: 'postgres' };

const since = (startedAt: number): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
