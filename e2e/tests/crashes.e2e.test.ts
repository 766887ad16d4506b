import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, PATIENT } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { type CountingLoad, startCounting } from '../src/load/start-counting.js';
import { sharedBy, untilOwned } from '../src/load/until-owned.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

const DEPLOYMENTS = 8;
const CLIENTS = 16;
/** Shorter leases than every day's, so that a takeover takes three seconds; a busy machine loses still shorter ones by itself. */
const impatient = { RATE_LIMITS: 'false', LEASE_TTL_MS: '3000' };
/** Leases that no pause of a machine ends. */
const patient = { RATE_LIMITS: 'false', LEASE_TTL_MS: '30000' };

/** Five processes with these variables, and what a test needs of them. */
function prepareSystem(env: Record<string, string>) {
  const resources = new Resources(PATIENT);
  let system: FiveProcesses;
  let api: ApiClient;
  beforeAll(async () => {
    const nats = resources.use('nats', await startNatsServer());
    const database = resources.use('database', await createTestDatabase());
    const backends = { databaseUrl: database.url, natsUrl: nats.url };
    system = resources.use('system', await startFiveProcesses(backends, env));
    api = apiClient(system.url, system.key);
  });
  afterAll(() => resources.release());
  const load = async (): Promise<CountingLoad> => {
    const { deploy } = await counterWorld(api);
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    return startCounting({ api, deployments, clients: CLIENTS });
  };
  return { system: () => system, load };
}

describeWithNats(
  'five processes',
  () => {
    const { system: prepared, load } = prepareSystem(impatient);
    let system: FiveProcesses;
    beforeAll(() => {
      system = prepared();
    });

    it('kill -9 of the runtime loses no acknowledged execution and repeats none', async () => {
      const counting = await load();
      for (let kill = 1; kill <= 2; kill += 1) {
        await counting.acknowledged(counting.count() + 150);
        await system.kill('runtime');
        system.restart('runtime');
      }
      await counting.acknowledged(counting.count() + 150);
      await counting.finish();
      expect(await counting.problems()).toEqual([]);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });

    it('kill -9 of the owner between a due time and its commit leaves each timer executed once', async () => {
      const api = apiClient(system.url, system.key);
      const deployment = await (await counterWorld(api)).deploy();
      const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
      const at = new Date(Date.now() + 4000).toISOString();
      const set = async (number: number) => {
        const key = { 'idempotency-key': `timer ${number}` };
        const { status } = await api.post(`${deployment}/execute`, { ...countRequest(number), at }, key);
        expect(status).toBe(202);
      };
      // What is refused for a moment is asked for again.
      await Promise.all(numbers.map((number) => vi.waitFor(() => set(number))));
      const executed = async () => (await api.get(`${deployment}/history?trigger=timer&limit=100`)).body;
      // The first of them are committed, others are under way.
      await vi.waitFor(async () => expect((await executed()).pagination.total).toBeGreaterThan(0), {
        interval: 5,
      });
      await system.kill('runtime');
      system.restart('runtime');
      await vi.waitFor(async () =>
        expect((await api.get(`${deployment}/timers`)).body.pagination.total).toBe(0),
      );
      const done = (await executed()).data.map(
        ({ input }: { input: { operation: number } }) => input.operation,
      );
      expect(done.sort((a: number, b: number) => a - b)).toEqual(numbers);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });

    it('a runtime that is stopped loses its deployments to another, and cannot commit when it wakes', async () => {
      system.add('runtime');
      const first = system.process('runtime');
      await untilOwned(system.databaseUrl, sharedBy(2));
      const counting = await load();
      await counting.acknowledged(100);

      process.kill(first.pid, 'SIGSTOP');
      await untilOwned(system.databaseUrl, sharedBy(1));
      await counting.acknowledged(counting.count() + 40);
      process.kill(first.pid, 'SIGCONT');
      await untilOwned(system.databaseUrl, (counts) => counts.length === 2);
      await counting.acknowledged(counting.count() + 100);
      await counting.finish();
      expect(await counting.problems()).toEqual([]);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });
  },
  { own: true },
);

// With long leases: a busy machine loses others by itself, and then calls are interrupted.
describeWithNats(
  'five processes that nobody hurries',
  () => {
    const { system: prepared, load } = prepareSystem(patient);

    it('a runtime that is asked to end hands over and fails nobody', async () => {
      const system = prepared();
      const second = system.add('runtime');
      await untilOwned(system.databaseUrl, sharedBy(2));
      const counting = await load();
      await counting.acknowledged(100);
      await second.end('SIGTERM');
      await counting.acknowledged(counting.count() + 100);
      await counting.finish();
      expect(await counting.problems()).toEqual([]);
      expect(counting.interruptions(), complaints(system)).toEqual([]);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });
  },
  { own: true },
);

/** What the processes had to complain of, to be shown with a failure. */
const complaints = (system: FiveProcesses): string =>
  system
    .output()
    .split('\n')
    .filter((line) => /"level":"?(error|warn)/.test(line))
    .slice(-20)
    .join('\n');
