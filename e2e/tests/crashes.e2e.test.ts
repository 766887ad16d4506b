import { systemClock } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { counterWorld } from '../src/load/counter-world.js';
import { type CountingLoad, startCounting } from '../src/load/start-counting.js';

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
      await owners(
        system.databaseUrl,
        (counts) => counts.length === 2 && counts.every((count) => count === 32),
      );
      const counting = await load();
      await counting.acknowledged(100);

      process.kill(first.pid, 'SIGSTOP');
      await owners(system.databaseUrl, (counts) => counts.length === 1 && counts[0] === 64);
      await counting.acknowledged(counting.count() + 40);
      process.kill(first.pid, 'SIGCONT');
      await owners(system.databaseUrl, (counts) => counts.length === 2);
      await counting.acknowledged(counting.count() + 100);
      await counting.finish();
      expect(await counting.problems()).toEqual([]);
      expect(await findViolations(system.databaseUrl)).toEqual([]);
    });

    it('a runtime that is asked to end hands over and fails nobody', async () => {
      const third = system.add('runtime');
      await owners(system.databaseUrl, (counts) => counts.length > 1 && counts.every((count) => count <= 32));
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

/** Waits until the numbers of partitions that the living owners hold are as asked for. */
async function owners(databaseUrl: string, asked: (counts: number[]) => boolean): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const signal = AbortSignal.timeout(20_000);
  for (let counts: number[] = []; !asked(counts); await systemClock.sleep(20)) {
    if (signal.aborted) {
      await client.end();
      throw new Error(`the partitions are held as ${JSON.stringify(counts)}`);
    }
    const { rows } = await client.query(
      'select count(*)::int from runtime.partitions where expires_at > now() and owner is not null group by owner',
    );
    counts = rows.map(({ count }) => count);
  }
  await client.end();
}
