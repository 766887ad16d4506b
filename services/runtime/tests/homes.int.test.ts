import { createHealth, createLogger, StartupError, systemClock } from '@orrery/service-kit';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { query as queryAt, withClient } from '@orrery/testing/servers';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { raiseGenerations } from '../src/lane/ownership/raise-generations.js';
import { acceptDisagreements, openDirectory, openRuntimeDatabase } from '../src/operator.js';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const house: House = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'fatal' });
const running: AsyncDisposable[] = [];
const databases: TestDatabase[] = [];
const boot = async (options: Parameters<House['boot']>[0]) => {
  const runtime = await house.boot(options);
  running.push(runtime);
  return runtime;
};
const stopAll = async () => {
  for (const one of running.splice(0).reverse()) await one[Symbol.asyncDispose]();
};
afterEach(stopAll);
afterAll(async () => {
  for (const one of databases) await one[Symbol.asyncDispose]();
});

const newDatabase = async () => {
  const made = await createTestDatabase();
  databases.push(made);
  return made.url;
};
/** As a restore does: another database with what this one has now. */
const backupOf = (url: string) => {
  const name = new URL(url).pathname.slice(1);
  const at = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).toString();
  return {
    make: () => queryAt(at('postgres'), `create database ${name}_backup template ${name}`),
    restore: async () => {
      await queryAt(at('postgres'), `drop database ${name} with (force)`);
      await queryAt(at('postgres'), `create database ${name} template ${name}_backup`);
      await queryAt(at('postgres'), `drop database ${name}_backup`);
    },
  };
};

/** A database and a directory elsewhere. */
const apart = async () => ({ databaseUrl: await newDatabase(), directoryUrl: await newDatabase() });
type Apart = Awaited<ReturnType<typeof apart>>;

async function opened<T>(
  { databaseUrl, directoryUrl }: Apart,
  work: (both: {
    db: Awaited<ReturnType<typeof openRuntimeDatabase>>['db'];
    directory: Awaited<ReturnType<typeof openDirectory>>['db'];
  }) => Promise<T>,
): Promise<T> {
  await using runtime = await openRuntimeDatabase({ databaseUrl, logger, maxConnections: 1 });
  const where = { databaseUrl, directoryUrl, applicationName: 'test', logger };
  await using directory = await openDirectory(where);
  return await work({ db: runtime.db, directory: directory.db });
}
const raise = (at: Apart, instance: string) => opened(at, (both) => raiseGenerations({ ...both, instance }));
const accept = (at: Apart) => opened(at, ({ db, directory }) => acceptDisagreements(db, directory));

const held = async (url: string) =>
  (
    await queryAt<{ n: number }>(
      url,
      'select count(*)::int as n from runtime.partitions where owner is not null and expires_at > now()',
    )
  )[0]?.n;
const generations = async ({ databaseUrl, directoryUrl }: Apart) => {
  const [here] = await queryAt<{ g: number[] }>(
    databaseUrl,
    'select array_agg(distinct generation::int) as g from runtime.partitions',
  );
  const [there] = await queryAt<{ g: number[] }>(
    directoryUrl,
    'select array_agg(distinct generation::int) as g from directory.homes',
  );
  return [here?.g, there?.g];
};
const refusalAtStart = async (options: Parameters<House['boot']>[0]) => {
  const outcome = await boot(options).then(
    () => new Error('it started'),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(StartupError);
  return (outcome as Error).message;
};

describe('a database', () => {
  it('is its own directory unless another is named, and is known again', async () => {
    const databaseUrl = await newDatabase();
    for (let start = 0; start < 2; start += 1) {
      await boot({ databaseUrl });
      expect(await held(databaseUrl)).toBe(64);
      await stopAll();
    }
    const named = await queryAt(databaseUrl, 'select name, id from directory.databases');
    expect(named).toEqual([{ name: '1', id: expect.any(String) }]);
    expect(await queryAt(databaseUrl, 'select id from runtime.this_database')).toEqual([
      { id: named[0]?.['id'] },
    ]);
    expect(await generations({ databaseUrl, directoryUrl: databaseUrl })).toEqual([[1], [1]]);
  });

  it('that the directory does not name is refused before anything is written to it', async () => {
    const at = await apart();
    await boot(at);
    await stopAll();
    const other = await newDatabase();
    const message = await refusalAtStart({ ...at, databaseUrl: other });
    expect(message).toMatch(
      /^The database at .+ is none of those that the directory at .+ names: correct DATABASE_URL or RUNTIME_DIRECTORY_URL\.$/,
    );
    expect(await queryAt(other, `select to_regclass('runtime.deployments') as made`)).toEqual([
      { made: null },
    ]);
  });

  it('may be entered by several processes at once, into one directory', async () => {
    const at = await apart();
    await Promise.all([boot(at), boot(at), boot(at)]);
    await vi.waitFor(async () => expect(await held(at.databaseUrl)).toBe(64));
    expect(await queryAt(at.directoryUrl, 'select count(*)::int as n from directory.databases')).toEqual([
      { n: 1 },
    ]);
  });

  it('enters an empty directory that takes the place of a lost one, with what it has', async () => {
    const at = await apart();
    await boot(at);
    await stopAll();
    const [before = 0] = (await generations(at))[0] ?? [];
    const found = { ...at, directoryUrl: await newDatabase() };
    await boot(found);
    await stopAll();
    const [here, there] = await generations(found);
    expect(there?.[0]).toBeGreaterThanOrEqual(before);
    expect(here).toEqual(there);
  });

  it('raises the generations of what a process holds while the directory is elsewhere', async () => {
    const at = await apart();
    await boot(at);
    await vi.waitFor(async () => expect((await generations(at))[1]?.[0]).toBeGreaterThan(1));
    await stopAll();
    await queryAt(at.databaseUrl, `update runtime.partitions set owner = 'one', generation = 2`);
    await queryAt(at.directoryUrl, 'update directory.homes set generation = 2');
    await raise(at, 'one');
    expect(await generations(at)).toEqual([[3], [3]]);
    await raise(at, 'another');
    expect(await generations(at)).toEqual([[3], [3]]);
    // As one leaves it that stops before it has told the directory: the next one ends it, and leases are taken meanwhile.
    await queryAt(at.databaseUrl, 'update runtime.partitions set generation = 4');
    await raise(at, 'one');
    expect(await generations(at)).toEqual([[4], [4]]);
    await queryAt(at.databaseUrl, 'update runtime.partitions set generation = 5, owner = null');
    await boot(at);
    expect(await held(at.databaseUrl)).toBe(64);
  });
});

describe('a restore', () => {
  it('of the database is refused, until it is accepted', async () => {
    const at = await apart();
    await boot(at);
    const backup = backupOf(at.databaseUrl);
    await stopAll();
    await backup.make();
    const again = await boot(at);
    await raise(at, again.instance);
    await raise(at, again.instance);
    await stopAll();
    await backup.restore();
    expect(await refusalAtStart(at)).toMatch(
      /^The database at .+ is behind the directory at .+ \(partition 0 has generation \d+, and \d+ in the directory, and 63 more\): it was restored or is another one; .*orrery database accept-restored/,
    );
    expect(await held(at.databaseUrl)).toBe(0);
    expect(await accept(at)).toHaveLength(64);
    const [here, there] = await generations(at);
    expect(here).toEqual(there);
    expect(await accept(at)).toEqual([]);
    await boot(at);
    expect(await held(at.databaseUrl)).toBe(64);
  });

  it('that is accepted makes the heads of its journals look changed, and those of no others', async () => {
    const at = await apart();
    const { instance } = await boot(at);
    await plantDeployment(house);
    await raise(at, instance);
    await stopAll();
    await queryAt(at.databaseUrl, 'update runtime.journal_heads set active_minute = 7');
    const minutes = () =>
      queryAt<{ minute: number }>(
        at.databaseUrl,
        'select active_minute as minute from runtime.journal_heads',
      );
    expect(await minutes()).toHaveLength(1);
    await accept(at);
    expect(await minutes()).toEqual([{ minute: 7 }]);
    await queryAt(at.databaseUrl, 'update runtime.partitions set generation = 1');
    await accept(at);
    expect((await minutes())[0]?.minute).toBeGreaterThan(Date.now() / 60_000 - 5);
  });

  it('of the directory is refused, until it is accepted', async () => {
    const at = await apart();
    const { instance } = await boot(at);
    await raise(at, instance);
    await stopAll();
    await queryAt(at.databaseUrl, `update runtime.partitions set owner = 'x', generation = 9`);
    expect(await refusalAtStart(at)).toMatch(/^The directory at .+ is behind the database at /);
    await accept(at);
    expect(await generations(at)).toEqual([[10], [10]]);
  });

  it('under a running process costs it what it would take, and it says so', async () => {
    const at = await apart();
    const lines: string[] = [];
    const logged = createLogger({
      service: 'test',
      level: 'error',
      destination: { write: (line) => lines.push(line) },
    });
    const { instance, leases } = await boot({ ...at, logger: logged });
    await raise(at, instance);
    await raise(at, instance);
    await queryAt(
      at.databaseUrl,
      'update runtime.partitions set owner = null, expires_at = null, generation = 1 where id < 10',
    );
    await leases.runOnce();
    await leases.runOnce();
    expect(await held(at.databaseUrl)).toBe(54);
    expect(lines.filter((line) => line.includes('deployments are without owner'))).toHaveLength(1);
    expect(lines.join()).toContain('is behind the directory');
    await accept(at);
    await leases.runOnce();
    expect(await held(at.databaseUrl)).toBe(64);
  });
});

describe('a partition that lives elsewhere', () => {
  it('is taken neither where the directory says so nor where the database does', async () => {
    const at = await apart();
    const { leases } = await boot(at);
    await queryAt(
      at.directoryUrl,
      `insert into directory.databases (id, name, place) values (gen_random_uuid(), '2', 1)`,
    );
    await queryAt(
      at.directoryUrl,
      `update directory.homes set database = (select id from directory.databases where name = '2') where partition = 5`,
    );
    await queryAt(at.databaseUrl, 'update runtime.partitions set generation = 0 where id = 6');
    await queryAt(
      at.databaseUrl,
      'update runtime.partitions set owner = null, expires_at = null, epoch = epoch + 1',
    );
    await leases.runOnce();
    const free = await queryAt<{ id: number }>(
      at.databaseUrl,
      'select id from runtime.partitions where owner is null order by id',
    );
    expect(free.map(({ id }) => id)).toEqual([5, 6]);
  });
});

describe('a directory that is away', () => {
  it('keeps nobody from executing, nor from renewing leases', async () => {
    const { directoryUrl } = await apart();
    const health = createHealth({ clock: systemClock });
    const { leases } = await boot({ directoryUrl, health, logger });
    const { execute, counter } = await plantDeployment(house);
    const name = new URL(directoryUrl).pathname.slice(1);
    const elsewhere = Object.assign(new URL(directoryUrl), { pathname: '/postgres' }).toString();
    const open = (isOpen: boolean) =>
      withClient(elsewhere, async (client) => {
        await client.query(`alter database ${name} allow_connections ${isOpen}`);
        await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
          name,
        ]);
      });
    await open(false);
    const told = async () => (await health.readiness()).checks['runtime directory'];
    await vi.waitFor(async () => expect(await told()).toMatchObject({ status: 'degraded' }));
    await leases.runOnce();
    await execute({ id: 'alone' });
    expect(await counter('alone')).toMatchObject({ state: { count: 1 } });
    expect(await held(house.databaseUrl)).toBe(64);
    await open(true);
    // A check that takes a busy machine too long tells that it is away.
    await vi.waitFor(async () => expect(await told()).toEqual({ status: 'ok' }));
  });
});
