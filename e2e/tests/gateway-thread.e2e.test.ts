import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@orrery/testing/servers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { type Started, startHere } from '../src/starting/start-here.js';
import { healthOf } from '../src/starting/start-service.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-threads-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(env: Record<string, string> = {}): Promise<Started> {
  const started = await startHere(join(folder, 'data'), env);
  onTestFinished(() => started.process[Symbol.asyncDispose]());
  return started;
}

/** Loaded before the program, in each of its threads: outside the main one a request for this path throws. */
const THROWING = `
  import { isMainThread } from 'node:worker_threads';
  import { subscribe } from 'node:diagnostics_channel';
  if (!isMainThread) subscribe('http.server.request.start', ({ request }) => {
    if (request.url === '/throw') setImmediate(() => { throw new Error('nobody catches this'); });
  });
`;

const linesOf = (page: string, start: string) => page.split('\n').filter((line) => line.startsWith(start));

describe('the gateway in its thread', () => {
  it('shows the checks and the metrics of both threads, wherever they are asked for', async () => {
    const port = await freePort();
    const { url, key } = await start({ HEALTH_PORT: String(port) });
    await apiClient(url, key).get('/worlds');
    await vi.waitFor(async () => {
      const here = await healthOf(port, '/readyz');
      expect(here?.body.checks).toMatchObject({
        process: { status: 'ok' },
        'runtime bus': { status: 'ok' },
        'gateway database': { status: 'ok' },
      });
      const there = await healthOf(Number(new URL(url).port), '/readyz');
      expect(there?.body.checks).toEqual(here?.body.checks);
    });

    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(linesOf(page, '# TYPE orrery_event_loop_delay_p99 ')).toHaveLength(1);
    expect(linesOf(page, 'orrery_event_loop_delay_p99{')).toHaveLength(2);
    expect(linesOf(page, 'orrery_http_request_duration_count{').join()).toContain('route="/api/worlds"');
    expect(linesOf(page, 'orrery_bus_answer_duration_count{').join()).toContain('rpc="worlds.list"');
  });

  it('stops the process when nobody catches its error, and loses nothing that was answered', async () => {
    const throwing = `--import data:text/javascript,${encodeURIComponent(THROWING)}`;
    const { process, url, key } = await start({ NODE_OPTIONS: throwing });
    expect((await apiClient(url, key).post('/worlds', { name: 'Kept' })).status).toBe(201);
    await fetch(`${url}/throw`).catch(() => undefined);
    expect(await process.exited).toBe(1);
    expect(process.output()).toContain('nobody catches this');
    const next = await start();
    const worlds = await apiClient(next.url, key).get('/worlds');
    expect(worlds.body.data).toMatchObject([{ name: 'Kept' }]);
  });
});
