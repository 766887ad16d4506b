import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import {
  pressControlC,
  processesOf,
  type Started,
  startHere,
  startInGroup,
} from '../src/starting/start-here.js';
import { racingWorld } from '../src/worlds/racing-world.js';

const onLinux = process.platform === 'linux';
let folder: string;
let dataDirectory: string;

beforeAll(async () => {
  // Mode 0700, as a home may be.
  folder = await mkdtemp(join(tmpdir(), 'orrery-start-'));
  dataDirectory = join(folder, 'data');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const nothingRuns = () =>
  vi.waitFor(async () => expect(await processesOf(folder)).toEqual([]), { interval: 20 });

async function start(env: Record<string, string> = {}): Promise<Started> {
  const started = await startHere(dataDirectory, env);
  onTestFinished(() => started.process[Symbol.asyncDispose]());
  return started;
}

async function expectSilentEnd({ process }: Started, signal: 'SIGINT' | 'SIGTERM'): Promise<void> {
  const before = process.output();
  expect(await process.end(signal)).toBe(0);
  expect(process.output()).toBe(before);
}

describe('the all-in-one', () => {
  it('prints its address, a key kept closed to others and a curl that works; SIGTERM ends it', async () => {
    const started = await start();
    const { process, url, key } = started;
    const file = join(dataDirectory, 'api-key');
    expect((await readFile(file, 'utf8')).trim()).toBe(key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readFile(join(dataDirectory, 'url'), 'utf8')).trim()).toBe(url);
    const [, words = ''] = await process.waitFor(/Try it: +curl (.*)/);
    const [, address, token] = /^(\S+) -H "Authorization: Bearer (\w+)"$/.exec(words) ?? [];
    expect([address, token]).toEqual([`${url}/api/worlds`, key]);
    expect(await apiClient(url, key).get('/worlds')).toMatchObject({ status: 200, body: { success: true } });
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
    await expectSilentEnd(started, 'SIGTERM');
  });

  it('ends silently on SIGINT and carries on where it was: the same key, the same worlds', async () => {
    const first = await start();
    const { deployment } = await racingWorld(apiClient(first.url, first.key));
    await expectSilentEnd(first, 'SIGINT');
    const second = await start();
    expect(second.key).toBe(first.key);
    const horse = await apiClient(second.url, second.key).get(`${deployment}/entity-instances/HORSE_1`);
    expect(horse.body.data.state).toMatchObject({ wins: 0 });
  });

  it('warns of nothing at a later start, whatever was left to be looked after', async () => {
    const first = await start();
    await racingWorld(apiClient(first.url, first.key));
    await first.process.end('SIGTERM');
    const second = await start({ CLAIM_GRACE_MS: '1', LOG_FORMAT: 'json' });
    await expectSilentEnd(second, 'SIGTERM');
    const lines = second.process.output().split('\n');
    expect(lines.filter((line) => /"level":"(?:warn|error|fatal)"/.test(line))).toEqual([]);
  });

  it.runIf(onLinux)('ends at Ctrl-C at a terminal and leaves nothing running', async () => {
    const child = await startInGroup(dataDirectory);
    onTestFinished(() => void child.kill('SIGKILL'));
    pressControlC(child);
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    await nothingRuns();
  });

  it.runIf(onLinux)(
    'recovers from kill -9, nothing confirmed is lost, and no server is left behind',
    async () => {
      const killed = await start();
      const { deployment } = await racingWorld(apiClient(killed.url, killed.key));
      const training = { event: 'training', input: { horse: 'HORSE_1', hours: 4 } };
      const answer = await apiClient(killed.url, killed.key).post(`${deployment}/execute`, training);
      expect(answer.status).toBe(200);
      await killed.process.end('SIGKILL');
      const next = await start();
      const api = apiClient(next.url, next.key);
      expect((await api.get(`${deployment}/entity-instances/HORSE_1`)).body.data.state.speed).toBe(12);
      expect((await api.post(`${deployment}/execute`, training)).status).toBe(200);
      await next.process.end('SIGKILL');
      await nothingRuns();
    },
  );

  it('starts its PostgreSQL again when that alone was killed, and goes on with what was confirmed', async () => {
    // The partitions are still its own: it waits for the end of no lease, which would take longer than this test.
    const { process: running, url, key } = await start({ LEASE_TTL_MS: '600000' });
    const api = apiClient(url, key);
    const { deployment } = await racingWorld(api);
    const training = { event: 'training', input: { horse: 'HORSE_1', hours: 4 } };
    expect((await api.post(`${deployment}/execute`, training)).status).toBe(200);
    const [pid] = (await readFile(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    const keyed = { 'idempotency-key': 'again' };
    const again = async () => (await api.post(`${deployment}/execute`, training, keyed)).status;
    await vi.waitFor(async () => expect(await again()).toBe(200), { interval: 50 });
    expect((await api.get(`${deployment}/entity-instances/HORSE_1`)).body.data.revision).toBe(3);
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
    expect(await running.end('SIGTERM')).toBe(0);
  });

  it('makes a new key when the kept one was revoked', async () => {
    const first = await start();
    const api = apiClient(first.url, first.key);
    const { body } = await api.get('/keys');
    expect((await api.delete(`/keys/${body.data[0].id}`)).status).toBe(200);
    await first.process.end('SIGINT');
    const second = await start();
    expect(second.key).not.toBe(first.key);
    expect((await apiClient(second.url, second.key).get('/me')).status).toBe(200);
  });
});

describe('below folders closed to others', () => {
  beforeEach(async () => {
    const home = join(folder, 'home');
    await mkdir(join(home, 'checkout'), { recursive: true, mode: 0o700 });
    await chmod(home, 0o700);
  });

  it('starts as whoever it is, root too', async () => {
    const { process, url, key } = await startHere(join(folder, 'home', 'checkout', '.orrery'));
    expect((await apiClient(url, key).get('/me')).status).toBe(200);
    expect(await process.end('SIGINT')).toBe(0);
  });
});
