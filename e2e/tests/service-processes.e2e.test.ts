import { createTestDatabase, describeWithNats, type TestDatabase } from '@orrery/testing';
import { startNatsServer, type TestServer } from '@orrery/testing/servers';
import { type NodeProcess, startNode } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../src/starting/free-port.js';
import { healthOf } from '../src/starting/health-of.js';

const services = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'];
const patiently = { timeout: 60_000, interval: 50 };

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

    async function start(name: string): Promise<{ process: NodeProcess; port: number }> {
      const port = await freePort();
      const env = { DATABASE_URL: database.url, NATS_URL: nats.url, PORT: '0', HEALTH_PORT: String(port) };
      const process = startNode(`services/${name}/dist/main.js`, env);
      onTestFinished(() => process[Symbol.asyncDispose]());
      await vi.waitFor(async () => expect((await healthOf(port, '/readyz'))?.status).toBe(200), patiently);
      return { process, port };
    }

    it.each(services)('%s starts alone, tells its health and ends on SIGTERM within 2 s', async (name) => {
      const { process, port } = await start(name);
      expect(await healthOf(port, '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
      const ready = await healthOf(port, '/readyz');
      expect(Object.keys(ready?.body.checks ?? {})).toEqual(
        expect.arrayContaining(['process', `${name} bus`, `${name} database`]),
      );
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(metrics).toContain('orrery_event_loop_delay_p99');
      const askedAt = performance.now();
      expect(await process.end('SIGTERM')).toBe(0);
      expect(performance.now() - askedAt).toBeLessThan(2000);
      expect(await healthOf(port, '/healthz')).toBeUndefined();
    });

    it.each(services)('%s is not ready while NATS is away, lives on, and comes back', async (name) => {
      await using bus = await replaceable();
      const port = await freePort();
      const env = { DATABASE_URL: database.url, NATS_URL: bus.url, PORT: '0', HEALTH_PORT: String(port) };
      const process = startNode(`services/${name}/dist/main.js`, env);
      onTestFinished(() => process[Symbol.asyncDispose]());
      const readyIs = (status: number) =>
        vi.waitFor(async () => expect((await healthOf(port, '/readyz'))?.status).toBe(status), patiently);
      await readyIs(200);
      await bus.leave();
      await readyIs(503);
      const away = await healthOf(port, '/readyz');
      expect(away?.body.checks).toMatchObject({ [`${name} bus`]: { status: 'unavailable' } });
      expect(away?.body.checks).toMatchObject({ [`${name} database`]: { status: 'ok' } });
      expect((await healthOf(port, '/healthz'))?.status).toBe(200);
      await bus.comeBack();
      await readyIs(200);
      await bus.leave();
      const askedAt = performance.now();
      expect(await process.end('SIGTERM')).toBe(0);
      expect(performance.now() - askedAt).toBeLessThan(5000);
    });
  },
  { own: true },
);

/** A NATS server that goes away, and comes back at the same port having forgotten everything. */
async function replaceable() {
  let server: TestServer | undefined = await startNatsServer();
  const { url, port } = server;
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
