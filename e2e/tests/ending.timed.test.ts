import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPace } from '@orrery/contracts/test-support';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { pressControlC, startInGroup } from '../src/starting/start-here.js';
import { type StartedService, startService } from '../src/starting/start-service.js';

const services = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'] as const;
const ENDED_MS = 2000;
const ENDED_WITHOUT_NATS_MS = 5000;

it.runIf(process.platform === 'linux')('the all-in-one ends within 2 s of Ctrl-C', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-ending-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const child = await startInGroup(join(folder, 'data'));
  onTestFinished(() => void child.kill('SIGKILL'));
  using pace = startPace();
  const pressedAt = performance.now();
  pressControlC(child);
  await once(child, 'exit');
  expect(performance.now() - pressedAt).toBeLessThan(ENDED_MS * pace.slowness());
});

describeWithNats(
  'each of the five services',
  () => {
    const cleanUp: (() => PromiseLike<unknown>)[] = [];
    afterAll(async () => {
      for (const release of cleanUp.reverse()) await release();
    });

    /** Each started, all side by side. */
    const startAll = async () => {
      const nats = await startNatsServer();
      const database = await createTestDatabase();
      cleanUp.push(
        () => database.drop(),
        () => nats.stop(),
      );
      const backends = { databaseUrl: database.url, natsUrl: nats.url };
      const started = await Promise.all(services.map((name) => startService(name, backends)));
      for (const { process } of started) cleanUp.push(() => process[Symbol.asyncDispose]());
      return { nats, started };
    };
    /** Ends one after the other. */
    const endedMs = async (started: readonly StartedService[]) => {
      const took: Record<string, number> = {};
      for (const [index, { process }] of started.entries()) {
        const askedAt = performance.now();
        await process.end('SIGTERM');
        took[services[index] ?? ''] = performance.now() - askedAt;
      }
      return took;
    };
    /** The services of which one took longer than `ms`, at the pace of a quiet machine. */
    const endedLaterThan = async (ms: number, started: readonly StartedService[]) => {
      using pace = startPace();
      const took = Object.entries(await endedMs(started));
      return took.filter(([, one]) => one >= ms * pace.slowness());
    };

    it('ends within 2 s of SIGTERM', async () => {
      const { started } = await startAll();
      expect(await endedLaterThan(ENDED_MS, started)).toEqual([]);
    });

    it('ends within 5 s of it while NATS is away', async () => {
      const { nats, started } = await startAll();
      await nats.kill();
      await Promise.all(started.map(({ readyIs }) => readyIs(503)));
      expect(await endedLaterThan(ENDED_WITHOUT_NATS_MS, started)).toEqual([]);
    });
  },
  { own: true },
);
