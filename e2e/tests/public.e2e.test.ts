import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, describeWithNats, describeWithRedis } from '@orrery/testing';
import { freePort, startNatsServer, startRedisServer, type TestServer } from '@orrery/testing/servers';
import {
  BUILT_COMMAND,
  builtProgram,
  type FiveProcesses,
  repositoryRoot,
  startFiveProcesses,
  startNode,
} from '@orrery/testing/system';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { anySystem } from './counting-suite.js';
import { executePublicly } from './public-suite.js';

const run = promisify(execFile);
const node = (...args: string[]) => run(process.execPath, args, { cwd: repositoryRoot });

describe('public execution', () =>
  executePublicly(anySystem, (running) => {
    it('is for the command line too: it creates a wallet, signs and sends', async () => {
      const { system, world } = running();
      const folder = await mkdtemp(join(tmpdir(), 'orrery-wallet-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const file = join(folder, 'key.json');
      const cli = BUILT_COMMAND;
      const created = await node(cli, 'wallets', 'create', file);
      const target = ['--url', system.url, '--deployment', world.address, '--wallet', file];
      const what = ['--event', 'enter', '--input', '{"name":"cli"}'];
      const { stdout } = await node(cli, 'public', 'execute', ...target, ...what);
      expect(JSON.parse(stdout).stateChanges['guest:cli']).toEqual({ visits: 1, by: created.stdout.trim() });
      const refused = await node(cli, 'public', 'execute', ...target, '--event', 'close').catch(
        (error: { stderr: string }) => error,
      );
      expect(refused.stderr).toBe(
        'The execution was refused (403 event_not_public): The visibility of "close" is not "public".\n',
      );
      await expect(node(cli, 'wallets', 'create', file)).rejects.toMatchObject({
        stderr: expect.stringContaining('It exists already.'),
      });
    });

    it('has examples for Node and the browser, of 60 and 70 lines at most', async () => {
      const { system, world } = running();
      const { stdout } = await node(
        'examples/execute.mjs',
        system.url,
        world.address,
        'enter',
        '{"name":"node"}',
      );
      expect(JSON.parse(stdout)).toMatchObject({ stateChanges: { 'guest:node': { visits: 1 } } });
      for (const [name, lines] of Object.entries({ 'execute.mjs': 60, 'execute.html': 70 })) {
        const text = await readFile(join(repositoryRoot, 'examples', name), 'utf8');
        expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(lines);
      }
    });
  }));

function fiveProcesses(): void {
  let nats: TestServer;
  let redis: TestServer;
  let system: FiveProcesses;
  const start = async (cleanUp: (() => Promise<void>)[]) => {
    nats = await startNatsServer();
    redis = await startRedisServer();
    cleanUp.push(
      () => nats.stop(),
      () => redis.stop(),
    );
    const database = await createTestDatabase();
    cleanUp.push(() => database.drop());
    const backends = { databaseUrl: database.url, natsUrl: nats.url, redisUrl: redis.url };
    system = await startFiveProcesses(backends, { RATE_APP_ADDRESS_PER_MINUTE: '100000' });
    return system;
  };
  executePublicly(start, (running) => {
    it('executes once when two gateways get the same message at the same time', async () => {
      const { send } = running();
      const port = String(await freePort());
      const second = startNode(builtProgram('gateway'), {
        ...system.commandEnv,
        HEALTH_PORT: '0',
        PORT: port,
      });
      onTestFinished(() => second[Symbol.asyncDispose]());
      const url = `http://127.0.0.1:${port}`;
      await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).ok).toBe(true));
      for (let trial = 0; trial < 10; trial += 1) {
        const sent = { input: { name: `twin ${trial}` }, at: Date.now() };
        const answers = await Promise.all(
          [url, system.url, url, system.url].map((url) => send({ ...sent, url })),
        );
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        expect(new Set(answers.map(({ body }) => body.data.historyId)).size).toBe(1);
        expect(answers[0]?.body.data.stateChanges[`guest:twin ${trial}`].visits).toBe(1);
      }
    });

    it('remembers its messages when Redis and NATS have lost everything', async () => {
      const { send } = running();
      const sent = { input: { name: 'kept' }, at: Date.now() };
      const first = await send(sent);
      await Promise.all([redis.kill(), nats.kill()]);
      [redis, nats] = await Promise.all([
        startRedisServer({ port: redis.port }),
        startNatsServer({ port: nats.port }),
      ]);
      await vi.waitFor(async () => expect((await send(sent)).status).toBe(200));
      expect((await send(sent)).body).toEqual(first.body);
      expect((await send({ ...sent, input: { name: 'other' } })).body.code).toBe('message_already_used');
    });
  });
}

describeWithNats(
  'public execution, five processes',
  () => describeWithRedis('with Redis', fiveProcesses, { own: true }),
  { own: true },
);
