import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect as openSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWithNats, describeWithRedis } from '@orrery/testing';
import { startNatsServer, startRedisServer } from '@orrery/testing/servers';
import { expect, onTestFinished, test } from 'vitest';

/** The first line that a server says, after hearing `greeting`. */
function firstLine(url: string, greeting = ''): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = openSocket(Number(port), hostname, () => socket.write(greeting));
    socket.once('error', reject);
    socket.once('data', (data) => resolve(String(data).split('\r\n', 1).join()));
    socket.once('data', () => socket.destroy());
  });
}

describeWithNats('the NATS of the run', (url) => {
  test('has JetStream', async () => {
    const info = JSON.parse((await firstLine(url)).replace('INFO ', ''));
    expect(info).toMatchObject({ jetstream: true });
  });
});

describeWithRedis('the Redis of the run', (url) => {
  test('answers', async () => expect(await firstLine(url, 'PING\r\n')).toBe('+PONG'));
});

describeWithNats(
  'a nats-server of a test',
  () => {
    test('comes back on the port and the store it had when it was killed', async () => {
      const storeDir = await mkdtemp(join(tmpdir(), 'orrery-store-'));
      onTestFinished(() => rm(storeDir, { recursive: true, force: true }));
      const first = await startNatsServer({ storeDir });
      await first.kill();
      await expect(firstLine(first.url)).rejects.toThrow(/ECONNREFUSED/);
      await using second = await startNatsServer({ storeDir, port: first.port });
      expect(second.url).toBe(first.url);
      expect(await firstLine(second.url)).toMatch(/^INFO/);
      expect(await readdir(storeDir)).toEqual(['jetstream']);
    });
  },
  { own: true },
);

describeWithRedis(
  'a redis-server of a test',
  () => {
    test('comes back empty on its port', async () => {
      const first = await startRedisServer();
      expect(await firstLine(first.url, 'SET key value\r\n')).toBe('+OK');
      await first.kill();
      await using second = await startRedisServer({ port: first.port });
      expect(await firstLine(second.url, 'GET key\r\n')).toBe('$-1');
    });
  },
  { own: true },
);
