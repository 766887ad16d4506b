import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, PATIENT } from '@orrery/testing';
import { type NatsCluster, startNatsCluster } from '@orrery/testing/servers';
import { type FiveProcesses, repositoryRoot, startFiveProcesses } from '@orrery/testing/system';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import {
  type Program,
  pythonProgram,
  type Subscriber,
  startSubscriber,
  typescriptProgram,
} from '../src/external/run-subscriber.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { startCounting } from '../src/load/start-counting.js';
import { counterWorld } from '../src/worlds/counter-world.js';

const run = promisify(execFile);
const SUBSCRIBERS = ['scores', 'totals'];
const USERS = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher', ...SUBSCRIBERS];
const secretOf = (user: string) => `p${Buffer.from(user).toString('hex')}`;
const variableOf = (user: string) => `NATS_${user.replace('-', '_').toUpperCase()}_PASSWORD`;
const ONE_SERVER_FAILS = { NATS_REPLICAS: '3', NATS_MAX_MIB: '64', RATE_LIMITS: 'false' };

describeWithNats('the services as their images hold them, on three NATS servers', suite, { own: true });

function suite(): void {
  const resources = new Resources(PATIENT);
  let cluster: NatsCluster;
  let system: FiveProcesses;
  let folder: string;
  const handled = new Map(SUBSCRIBERS.map((name) => [name, new Map<string, number[]>()]));
  let programs: Record<string, Program>;

  const subscribe = (name: string): Subscriber => {
    const { command = [], env = {} } = programs[name] ?? {};
    const own = { NATS_USER: name, NATS_PASSWORD: secretOf(name), POSITIONS: join(folder, `${name}.json`) };
    // The password and the user stand beside the servers, as a subscriber has them.
    const NATS_URL = cluster.url(name, secretOf(name)).split(',')[0] ?? '';
    return startSubscriber(command, { ...env, ...own, NATS_URL }, handled.get(name) ?? new Map());
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orrery-cluster-'));
    resources.add('folder', () => rm(folder, { recursive: true, force: true }));
    const names = SUBSCRIBERS.flatMap((name) => ['--subscriber', name]);
    const users = await run('node', ['packages/bus/dist/nats-users/main.js', ...names], {
      cwd: repositoryRoot,
    });
    const env = Object.fromEntries(USERS.map((user) => [variableOf(user), secretOf(user)]));
    const database = resources.use('database', await createTestDatabase());
    const bundles = run('node', ['deploy/bundle.mjs'], { cwd: repositoryRoot });
    cluster = resources.use(
      'cluster',
      await startNatsCluster({ folder, servers: 3, config: users.stdout, env }),
    );
    await bundles;
    const migrate = ['deploy/dist/orrery/main.mjs', 'database', 'migrate'];
    await run('node', migrate, { cwd: repositoryRoot, env: { ...process.env, DATABASE_URL: database.url } });
    const backends = {
      databaseUrl: database.url,
      natsUrl: (service: string) => cluster.url(service, secretOf(service)),
      programOf: (service: string) => `deploy/dist/${service}/main.mjs`,
    };
    system = resources.use('system', await startFiveProcesses(backends, ONE_SERVER_FAILS));
    const scores = { command: await typescriptProgram(folder), env: {} };
    programs = { scores, totals: (await pythonProgram()) ?? scores };
  });
  afterAll(() => resources.release());

  it('lose and reorder nothing when a server is killed and its data is gone, and nor do subscribers', async () => {
    const api = apiClient(system.url, system.key);
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: 4 }, deploy));
    const counting = startCounting({ api, deployments, clients: 8 });
    {
      await using scores = subscribe('scores');
      await using totals = subscribe('totals');
      await counting.acknowledged(60);
      await cluster.replace(1);
      await counting.acknowledged(counting.count() + 120);
      // They end in the middle of it, and go on where they were.
      await vi.waitFor(() => expect(scores.handled.size + totals.handled.size).toBeGreaterThan(0));
    }
    await counting.acknowledged(counting.count() + 60);
    await using scores = subscribe('scores');
    await using totals = subscribe('totals');
    await counting.finish();
    expect(await counting.problems()).toEqual([]);
    expect(await findViolations(system.databaseUrl)).toEqual([]);
    const journals = await journalsOf(system.databaseUrl);
    for (const { handled: seen, complaints } of [scores, totals])
      await vi.waitFor(() => expect(Object.fromEntries(seen), complaints()).toEqual(journals), {
        timeout: 120_000,
      });
    expect(system.output()).not.toContain('NATS refuses');
  });
}

/** Of each deployment all numbers of its journal, in order. */
async function journalsOf(databaseUrl: string): Promise<Record<string, number[]>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ address: string; seq: string }>(
      'select d.address, h.seq from runtime.journal_heads h join runtime.deployments d on d.id = h.deployment_id',
    );
    return Object.fromEntries(
      rows.map(({ address, seq }) => [address, Array.from({ length: Number(seq) }, (_, index) => index + 1)]),
    );
  } finally {
    await client.end();
  }
}
