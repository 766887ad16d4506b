import { createTestDatabase, describeWithNats, type TestDatabase } from '@orrery/testing';
import { freePort, startNatsServer, type TestServer } from '@orrery/testing/servers';
import type { ServiceName } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { healthOf, startService } from '../src/starting/start-service.js';

const services = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'] as const;

describeWithNats(
  'each of the five services as a process of its own',
  () => {
    let nats: TestServer;
    let database: TestDatabase;
    beforeAll(async () => {
      nats = await startNatsServer();
      database = await createTestDatabase();
    });
    afterAll(async () => {
      await nats.stop();
      await database.drop();
    });

    async function start(name: ServiceName, natsUrl: string) {
      const started = await startService(name, { databaseUrl: database.url, natsUrl });
      onTestFinished(() => started.process[Symbol.asyncDispose]());
      return started;
    }

    it.each(services)('%s starts alone, tells its health and ends on SIGTERM', async (name) => {
      const { process, port } = await start(name, nats.url);
      expect(await healthOf(port, '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
      const ready = await healthOf(port, '/readyz');
      expect(Object.keys(ready?.body.checks ?? {})).toEqual(
        expect.arrayContaining(['process', `${name} bus`, `${name} database`]),
      );
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(metrics).toContain('orrery_event_loop_delay_p99');
      expect(await process.end('SIGTERM')).toBe(0);
      expect(await healthOf(port, '/healthz')).toBeUndefined();
    });

    it('the runtime tells which database it has, and that all partitions there have an owner', async () => {
      const { port } = await start('runtime', nats.url);
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(metrics).toMatch(/^orrery_runtime_home\{.*home="1".*\} 1\b/m);
      expect(metrics).toMatch(/^orrery_runtime_partitions_without_owner\{.*home="1".*\} 0\b/m);
    });

    it.each(services)('%s is not ready while NATS is away, lives on, and comes back', async (name) => {
      await using bus = await replaceable();
      const { process, port, readyIs } = await start(name, bus.url);
      await bus.leave();
      await readyIs(503);
      await vi.waitFor(async () =>
        expect((await healthOf(port, '/readyz'))?.body.checks).toMatchObject({
          [`${name} bus`]: { status: 'unavailable' },
          [`${name} database`]: { status: 'ok' },
        }),
      );
      expect((await healthOf(port, '/healthz'))?.status).toBe(200);
      await bus.comeBack();
      await readyIs(200);
      await bus.leave();
      expect(await process.end('SIGTERM')).toBe(0);
    });
  },
  { own: true },
);

/** A NATS server that goes away, and comes back at the same port having forgotten everything. */
async function replaceable() {
  const port = await freePort();
  let server: TestServer | undefined = await startNatsServer({ port });
  const { url } = server;
  const leave = async () => {
    await server?.kill();
    server = undefined;
  };
  return {
    url,
    leave,
    comeBack: async () => {
      server = await startNatsServer({ port });
    },
    [Symbol.asyncDispose]: leave,
  };
}
