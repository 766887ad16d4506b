import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { query, startNatsServer } from '@orrery/testing/servers';
import { builtProgram, startFleet, startNode } from '@orrery/testing/system';
import { expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { startDebianPostgres } from '../src/external/debian-postgres.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { startCounting } from '../src/load/start-counting.js';
import { addSecondHome, runOn } from '../src/starting/second-home.js';
import { SYSTEM_END_MS } from '../src/starting/start-system.js';
import { counterWorld } from '../src/worlds/counter-world.js';

const run = promisify(execFile);
const patiently = { interval: 100 };

/** Two databases and the directory on one server of PostgreSQL 15; odd partitions live in the second. */
async function startTwoHomes(resources: Resources) {
  const postgres = await startDebianPostgres();
  resources.add('PostgreSQL', postgres.stop);
  const nats = await startNatsServer();
  resources.add('NATS', nats.stop);
  const [first, second, directory] = ['first', 'second', 'directory'] as const;
  for (const name of [first, second, directory])
    await run('createdb', ['--maintenance-db', postgres.urlOf('postgres'), name]);
  // Leases that no pause of a machine ends: the other home is not interrupted.
  const unhurried = { RATE_LIMITS: 'false', LEASE_TTL_MS: '30000' };
  const env = { RUNTIME_DIRECTORY_URL: postgres.urlOf(directory), ...unhurried };
  const databaseUrl = postgres.urlOf(first);
  const backends = { databaseUrl, natsUrl: nats.url, each: 1 };
  const fleet = resources.use('fleet', await startFleet(backends, env), SYSTEM_END_MS);
  const secondUrl = postgres.urlOf(second);
  const homes = { first: databaseUrl, second: secondUrl, directory: postgres.urlOf(directory) };
  const runtime = await addSecondHome(fleet, homes);
  const variables = { DATABASE_URL: secondUrl };
  const refusedStart = () =>
    startNode(builtProgram('runtime'), { ...fleet.commandEnv, ...variables, HEALTH_PORT: '0' });
  return { postgres, fleet, runtime, refusedStart, variables, second, secondUrl };
}

describeWithProgram('pg_restore', 'one home of two', () => {
  it('is restored from a dump while the other goes on, and all deployments are served again', async () => {
    const resources = new Resources(PATIENT);
    onTestFinished(() => resources.release());
    const { postgres, fleet, runtime, refusedStart, variables, second, secondUrl } =
      await startTwoHomes(resources);
    const folder = await mkdtemp(join(tmpdir(), 'orrery-home-'));
    resources.add('folder', () => rm(folder, { recursive: true, force: true }));
    const api = apiClient(fleet.url, fleet.key);
    const { deploy } = await counterWorld(api);
    const idsIn = async (database: string) =>
      (await query<{ id: string }>(postgres.urlOf(database), 'select id from runtime.deployments')).map(
        ({ id }) => id,
      );
    /** Where one is made is by chance. */
    const deployIn = async (database: string): Promise<string> => {
      for (;;) {
        const path = await deploy();
        const { body } = await api.get(path);
        if ((await idsIn(database)).includes(String(body.data.id))) return path;
      }
    };
    const here = [await deployIn('first'), await deployIn('first')];
    const there = [await deployIn(second), await deployIn(second)];
    const others = startCounting({ api, deployments: here, clients: 2 });
    const lost = startCounting({ api, deployments: there, clients: 4 });
    await lost.acknowledged(60);
    const dumped = lost.count();
    const dump = join(folder, 'home-2.dump');
    await run('pg_dump', ['--format=custom', `--file=${dump}`, secondUrl]);
    await lost.acknowledged(lost.count() + 30);
    await lost.finish();
    expect(await lost.problems()).toEqual([]);
    // The directory is ahead of the dump once generations have been raised.
    const generation = async () =>
      Number(
        (
          await query<{ least: string }>(
            postgres.urlOf('directory'),
            `select min(h.generation) as least from directory.homes h
            join directory.databases d on d.id = h.database where d.name = '2'`,
          )
        )[0]?.least,
      );
    const before = await generation();
    await vi.waitFor(async () => expect(await generation()).toBeGreaterThan(before + 1), patiently);

    await fleet.end(runtime, 'SIGTERM');
    const beforeRestore = others.count();
    await run('dropdb', ['--maintenance-db', postgres.urlOf('postgres'), second]);
    await run('createdb', ['--maintenance-db', postgres.urlOf('postgres'), '--owner=orrery', second]);
    await run('pg_restore', [`--dbname=${secondUrl}`, '--no-owner', '--exit-on-error', dump]);
    const refused = resources.use('refused runtime', refusedStart());
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain('it was restored or is another one');
    expect((await api.post(`${there[0]}/execute`, {})).status).not.toBe(200);
    expect(await runOn(fleet, secondUrl, 'database', 'accept-restored')).toContain('32 partitions');
    await fleet.add('runtime', { variables });

    let counted = 0;
    for (const path of there)
      await vi.waitFor(async () => {
        const { body } = await api.get(`${path}/history/verify`);
        expect(body.data).toMatchObject({ valid: true });
        counted += (await api.get(`${path}/entity-instances/C`)).body.data.state.value;
      }, patiently);
    expect(counted).toBeGreaterThanOrEqual(dumped - there.length);
    const more = startCounting({ api, deployments: [await deployIn(second)], clients: 2 });
    await more.acknowledged(20);
    await more.finish();
    expect(await more.problems()).toEqual([]);
    await others.acknowledged(beforeRestore + 20);
    await others.finish();
    expect([await others.problems(), others.interruptions()]).toEqual([[], []]);
    const ownerless =
      'select id from runtime.partitions where generation > 0 and (expires_at < now() or owner is null)';
    for (const database of ['first', second])
      await vi.waitFor(
        async () => expect(await query(postgres.urlOf(database), ownerless)).toEqual([]),
        patiently,
      );
  });
});
