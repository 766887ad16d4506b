import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { counterWorld } from '../src/load/counter-world.js';
import { type CountingLoad, startCounting } from '../src/load/start-counting.js';
import { sharedBy, untilOwned } from '../src/load/until-owned.js';

const DEPLOYMENTS = 8;
const CLIENTS = 16;
/** Short leases and deadlines, so that a takeover takes a second and a lost answer five, not ten and thirty. */
const impatient = { RATE_LIMITS: 'false', LEASE_TTL_MS: '1000', CALL_DEADLINE_MS: '5000' };

describeWithNats(
  'five processes',
  () => {
    const cleanUp: (() => Promise<void>)[] = [];
    let system: FiveProcesses;
    let api: ApiClient;
    beforeAll(async () => {
      const nats = await startNatsServer();
      cleanUp.push(nats.stop);
      const database = await createTestDatabase();
      cleanUp.push(() => database.drop());
      system = await startFiveProcesses({ databaseUrl: database.url, natsUrl: nats.url }, impatient);
      cleanUp.push(async () => system[Symbol.asyncDispose]());
      api = apiClient(system.url, system.key);
    });
    afterAll(async () => {
      for (const release of cleanUp.reverse()) await release();
    });

    const load = async (): Promise<CountingLoad> => {
      const { deploy } = await counterWorld(api);
      const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
      return startCounting({ api, deployments, clients: CLIENTS });
    };

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

    it('a runtime that is asked to end hands over and fails nobody', async () => {
      const third = system.add('runtime');
      await untilOwned(
        system.databaseUrl,
        (counts) => counts.length > 1 && counts.every((count) => count <= 32),
      );
      const counting = await load();
      await counting.acknowledged(100);
      await third.end('SIGTERM');
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
