import { systemClock } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, type NodeProcess, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api-client.js';
import { counterWorld, countRequest } from '../src/load/counter-world.js';

const DEPLOYMENTS = 16;
/** The default `LEASE_TTL_MS`. */
const TTL_MS = 6000;
/** New calls succeed, and those of a dead process are answered, within this time. */
const RECOVERED_MS = TTL_MS + 1000;
/** What a busy machine may add to either. */
const MARGIN_MS = 3000;
const HANDED_OVER_MS = 500;

interface Call {
  readonly deployment: number;
  readonly startedAt: number;
  endedAt: number;
  status: number;
}

describeWithNats(
  'recovery with the default settings, two runtimes, an open loop of 125 calls a second',
  () => {
    const cleanUp: (() => Promise<unknown>)[] = [];
    const runtimes: NodeProcess[] = [];
    const calls: Call[] = [];
    let system: FiveProcesses;
    let api: ApiClient;
    let isOver = false;
    beforeAll(async () => {
      const nats = await startNatsServer();
      cleanUp.push(nats.stop);
      const database = await createTestDatabase();
      cleanUp.push(() => database.drop());
      const backends = { databaseUrl: database.url, natsUrl: nats.url };
      system = await startFiveProcesses(backends, { RATE_LIMITS: 'false' });
      cleanUp.push(async () => system[Symbol.asyncDispose]());
      api = apiClient(system.url, system.key);
      const { deploy } = await counterWorld(api);
      const paths = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
      runtimes.push(system.process('runtime'), system.add('runtime'));
      const driving = drive(paths);
      cleanUp.push(async () => {
        isOver = true;
        await driving;
      });
      // Both share the partitions from then on.
      await systemClock.sleep(TTL_MS);
    });
    afterAll(async () => {
      for (const release of cleanUp.reverse()) await release();
    });

    const drive = async (paths: readonly string[]) => {
      for (let operation = 0; !isOver; operation += 1) {
        const deployment = operation % DEPLOYMENTS;
        const call: Call = { deployment, startedAt: performance.now(), endedAt: 0, status: 0 };
        calls.push(call);
        void api.post(`${paths[deployment]}/execute`, countRequest(operation)).then(
          ({ status }) => Object.assign(call, { endedAt: performance.now(), status }),
          () => Object.assign(call, { endedAt: performance.now(), status: -1 }),
        );
        await systemClock.sleep(8);
      }
    };
    /** What became of the calls from `at` on, once those of `ms` have had time to end. */
    const recovery = async (at: number, ms: number) => {
      await systemClock.sleep(ms);
      const since = calls.filter(({ startedAt }) => startedAt >= at);
      const servedAt = Array.from({ length: DEPLOYMENTS }, (_, index) =>
        Math.min(
          ...since
            .filter(({ deployment, status }) => deployment === index && status === 200)
            .map(({ endedAt }) => endedAt),
        ),
      );
      const now = performance.now();
      return {
        servedAfterMs: Math.max(...servedAt) - at,
        longestCallMs: Math.max(...since.map(({ startedAt, endedAt }) => (endedAt || now) - startedAt)),
      };
    };
    const first = (): NodeProcess => {
      const process = runtimes.shift();
      if (process === undefined) throw new Error('no runtime is left');
      return process;
    };

    it('SIGTERM leaves no deployment without an owner', async () => {
      for (let trial = 0; trial < 3; trial += 1) {
        const at = performance.now();
        await first().end('SIGTERM');
        const { servedAfterMs } = await recovery(at, 1000);
        expect(servedAfterMs).toBeLessThan(HANDED_OVER_MS + MARGIN_MS / 2);
        runtimes.push(system.add('runtime'));
        await systemClock.sleep(4000);
      }
    });

    it.each(['one', 'both'])('kill -9 of %s', async (which) => {
      const killed = which === 'both' ? [first(), first()] : [first()];
      const at = performance.now();
      await Promise.all(killed.map((process) => process.end('SIGKILL')));
      for (const _ of killed) runtimes.push(system.add('runtime'));
      const { servedAfterMs, longestCallMs } = await recovery(at, RECOVERED_MS + MARGIN_MS + 1000);
      expect(servedAfterMs).toBeLessThan(RECOVERED_MS + MARGIN_MS);
      expect(longestCallMs).toBeLessThan(RECOVERED_MS + MARGIN_MS);
    });

    it('SIGSTOP of one', async () => {
      const stopped = first();
      const at = performance.now();
      process.kill(stopped.pid, 'SIGSTOP');
      const { servedAfterMs, longestCallMs } = await recovery(at, RECOVERED_MS + MARGIN_MS + 1000);
      process.kill(stopped.pid, 'SIGCONT');
      expect(servedAfterMs).toBeLessThan(RECOVERED_MS + MARGIN_MS);
      expect(longestCallMs).toBeLessThan(RECOVERED_MS + MARGIN_MS);
    });
  },
  { own: true },
);
