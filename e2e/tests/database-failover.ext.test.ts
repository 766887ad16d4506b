import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { describeWithNats } from '@orrery/testing';
import { startNatsServer, startStandby } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api-client.js';
import { counterWorld } from '../src/load/counter-world.js';
import { startCounting } from '../src/load/start-counting.js';

const DEPLOYMENTS = 8;
const CLIENTS = 64;
/** The promotion included, on a busy machine. */
const SERVED_AGAIN_MS = 30_000;

const socketOf = (url: string) => new URL(url).searchParams.get('host');

describeWithNats(
  'five processes on a primary with a synchronous standby',
  () => {
    const cleanUp: (() => Promise<unknown>)[] = [];
    let primary: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
    let standby: Awaited<ReturnType<typeof startStandby>>;
    let system: Awaited<ReturnType<typeof startFiveProcesses>>;
    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'orrery-failover-'));
      cleanUp.push(() => rm(folder, { recursive: true, force: true }));
      // Started by root, the servers run as another user.
      await chmod(folder, 0o711);
      const dataDirectory = join(folder, 'one');
      primary = await startEmbeddedPostgres({ dataDirectory });
      cleanUp.push(primary.stop);
      standby = await startStandby({ url: primary.url, dataDirectory }, join(folder, 'two'));
      cleanUp.push(standby.stop);
      const nats = await startNatsServer();
      cleanUp.push(nats.stop);
      const hosts = [primary.url, standby.url].map(socketOf).join(',');
      const databaseUrl = `postgres://orrery@/orrery?host=${hosts}&target_session_attrs=read-write`;
      system = await startFiveProcesses({ databaseUrl, natsUrl: nats.url }, { RATE_LIMITS: 'false' });
      cleanUp.push(async () => system[Symbol.asyncDispose]());
    });
    afterAll(async () => {
      for (const release of cleanUp.reverse()) await release();
    });

    it('lose nothing that was acknowledged when the primary is killed and the standby promoted', async () => {
      const api = apiClient(system.url, system.key);
      const { deploy } = await counterWorld(api);
      const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
      const counting = startCounting({ api, deployments, clients: CLIENTS });
      await counting.acknowledged(500);
      process.kill(primary.pid, 'SIGKILL');
      const killedAt = performance.now();
      await standby.promote();
      const promotedMs = performance.now() - killedAt;
      // An execution that was refused has succeeded when it was repeated.
      await expect
        .poll(() => counting.interruptions().length, { timeout: SERVED_AGAIN_MS })
        .toBeGreaterThan(0);
      const servedAgainMs = performance.now() - killedAt;
      await counting.acknowledged(counting.count() + 500);
      await counting.finish();
      const problems = await counting.problems();
      process.stdout.write(
        `promoted after ${Math.round(promotedMs)} ms, served again after ${Math.round(servedAgainMs)} ms: ${counting.count()} acknowledged, ${counting.interruptions().length} interrupted, ${problems.length} problems\n`,
      );
      expect(problems).toEqual([]);
      expect(servedAgainMs).toBeLessThan(SERVED_AGAIN_MS);
    });
  },
  { own: true },
);
