import { startPace } from '@orrery/contracts/test-support';
import { systemClock } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, type NodeProcess, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { sharedBy, untilOwned } from '../src/load/until-owned.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

const DEPLOYMENTS = 16;
/** The default `LEASE_TTL_MS`. */
const TTL_MS = 6000;
/** New calls succeed, and those of a dead process are answered, within this time. */
const RECOVERED_MS = TTL_MS + 1000;
/** What may come on top of either, at the pace of a quiet machine. */
const MARGIN_MS = 3000;
/** A call that nobody answers, and a deployment that nobody takes over, are waited for so long. */
const PATIENCE_MS = 60_000;
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
    /** When every deployment had answered a call that began after `at`; infinity while one has not. */
    const servedAt = (at: number): number => {
      const firsts = Array.from({ length: DEPLOYMENTS }, () => Number.POSITIVE_INFINITY);
      for (const { deployment, startedAt, endedAt, status } of calls)
        if (startedAt >= at && status === 200)
          firsts[deployment] = Math.min(firsts[deployment] ?? 0, endedAt);
      return Math.max(...firsts);
    };
    /** What became of the calls from `at` on until all deployments are served and these calls have ended. */
    const recovery = async (at: number) => {
      const concerned = () => calls.filter(({ startedAt }) => startedAt >= at && startedAt <= servedAt(at));
      const isOver = () =>
        servedAt(at) < performance.now() && concerned().every(({ endedAt }) => endedAt > 0);
      while (performance.now() < at + PATIENCE_MS && !isOver()) await systemClock.sleep(50);
      const now = performance.now();
      return {
        servedAfterMs: servedAt(at) - at,
        longestCallMs: Math.max(...concerned().map(({ startedAt, endedAt }) => (endedAt || now) - startedAt)),
      };
    };
    const first = (): NodeProcess => {
      const process = runtimes.shift();
      if (process === undefined) throw new Error('no runtime is left');
      return process;
    };

    it('SIGTERM leaves no deployment without an owner', async () => {
      using pace = startPace();
      for (let trial = 0; trial < 3; trial += 1) {
        await untilOwned(system.databaseUrl, sharedBy(2));
        const at = performance.now();
        await first().end('SIGTERM');
        const { servedAfterMs } = await recovery(at);
        expect(servedAfterMs).toBeLessThan((HANDED_OVER_MS + MARGIN_MS / 2) * pace.slowness());
        runtimes.push(system.add('runtime'));
      }
    });

    it.each(['one', 'both'])('kill -9 of %s', async (which) => {
      using pace = startPace();
      await untilOwned(system.databaseUrl, sharedBy(2));
      const killed = which === 'both' ? [first(), first()] : [first()];
      const at = performance.now();
      await Promise.all(killed.map((process) => process.end('SIGKILL')));
      for (const _ of killed) runtimes.push(system.add('runtime'));
      const { servedAfterMs, longestCallMs } = await recovery(at);
      expect(servedAfterMs).toBeLessThan((RECOVERED_MS + MARGIN_MS) * pace.slowness());
      expect(longestCallMs).toBeLessThan((RECOVERED_MS + MARGIN_MS) * pace.slowness());
    });

    it('SIGSTOP of one', async () => {
      using pace = startPace();
      await untilOwned(system.databaseUrl, sharedBy(2));
      const stopped = first();
      const at = performance.now();
      process.kill(stopped.pid, 'SIGSTOP');
      const { servedAfterMs, longestCallMs } = await recovery(at);
      process.kill(stopped.pid, 'SIGCONT');
      expect(servedAfterMs).toBeLessThan((RECOVERED_MS + MARGIN_MS) * pace.slowness());
      expect(longestCallMs).toBeLessThan((RECOVERED_MS + MARGIN_MS) * pace.slowness());
    });
  },
  { own: true },
);
