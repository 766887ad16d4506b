import { Resources } from '@orrery/service-kit';
import { describeWithNats, PATIENT } from '@orrery/testing';
import { type ReplicatedPostgres, startNatsServer, startReplicatedPostgres } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { startCounting } from '../src/load/start-counting.js';
import { counterWorld } from '../src/worlds/counter-world.js';

const DEPLOYMENTS = 8;
const CLIENTS = 64;

describeWithNats(
  'five processes on a primary with a synchronous standby',
  () => {
    const resources = new Resources(PATIENT);
    let postgres: ReplicatedPostgres;
    let system: FiveProcesses;
    beforeAll(async () => {
      postgres = resources.use('postgres', await startReplicatedPostgres());
      const { url: natsUrl } = resources.use('nats', await startNatsServer());
      const backends = { databaseUrl: postgres.url, natsUrl };
      system = resources.use('system', await startFiveProcesses(backends, { RATE_LIMITS: 'false' }));
    });
    afterAll(() => resources.release());

    it('lose nothing that was acknowledged when the primary is killed and the standby promoted', async () => {
      const api = apiClient(system.url, system.key);
      const { deploy } = await counterWorld(api);
      const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
      const counting = startCounting({ api, deployments, clients: CLIENTS });
      await counting.acknowledged(500);
      process.kill(postgres.primary.pid, 'SIGKILL');
      const [killedAt, before] = [performance.now(), counting.count()];
      await postgres.standby.promote();
      const promotedMs = performance.now() - killedAt;
      // One more than were under way: it was begun after the kill. Whether any is refused meanwhile is luck, since the
      // runtime repeats a batch that was not written.
      await counting.acknowledged(before + CLIENTS + 1);
      const servedAgainMs = performance.now() - killedAt;
      await counting.acknowledged(counting.count() + 500);
      await counting.finish();
      const problems = await counting.problems();
      process.stdout.write(
        `promoted after ${Math.round(promotedMs)} ms, served again after ${Math.round(servedAgainMs)} ms: ${counting.count()} acknowledged, ${counting.interruptions().length} interrupted, ${problems.length} problems\n`,
      );
      expect(problems).toEqual([]);
    });
  },
  { own: true },
);
