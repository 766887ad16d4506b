import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { createTestDatabase } from '@orrery/testing';
import { repositoryRoot } from '@orrery/testing/system';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import {
  allInOneVariables,
  pressControlC,
  processesOf,
  runAllInOne,
  startHere,
} from '../src/starting/start-here.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-ends-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

/** `npm start` where the build is there already, in a process group as a terminal makes one. */
async function npmStart(dataDirectory: string) {
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await writeFile(join(programs, 'npm'), '#!/bin/sh\n', { mode: 0o755 });
  const npm = (await promisify(execFile)('sh', ['-c', 'command -v npm'])).stdout.trim();
  const env = {
    ...process.env,
    PATH: `${programs}:${process.env['PATH']}`,
    // The second signal comes before the end.
    ...allInOneVariables(dataDirectory, { SHUTDOWN_DELAY_MS: '1500' }),
  };
  const child = spawn(npm, ['start'], {
    cwd: repositoryRoot,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes('Ctrl-C ends it')) break;
  return child;
}

it.runIf(process.platform === 'linux')(
  'Ctrl-C under `npm start` ends it as it should, though npm passes the signal on a second time',
  async () => {
    const data = join(folder, 'data');
    const child = await npmStart(data);
    const exited = once(child, 'exit');
    pressControlC(child);
    expect(await exited).toEqual([0, null]);
    await vi.waitFor(async () => expect(await processesOf(data)).toEqual([]));
  },
);

it('takes requests for as long as SHUTDOWN_DELAY_MS says, and then ends silently', async () => {
  const { process, url, key } = await startHere(join(folder, 'data'), { SHUTDOWN_DELAY_MS: '6000' });
  onTestFinished(() => process[Symbol.asyncDispose]());
  const before = process.output();
  const askedAt = performance.now();
  const ended = process.end('SIGTERM');
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(503), { interval: 20 });
  expect((await apiClient(url, key).get('/worlds')).status).toBe(200);
  expect(await ended).toBe(0);
  expect(performance.now() - askedAt).toBeGreaterThan(6000);
  expect(process.output()).toBe(before);
});

it('refuses a second one on the same database without NATS, which the first does not notice', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const env = { DATABASE_URL: database.url };
  const first = await startHere(join(folder, 'first'), env);
  onTestFinished(() => first.process[Symbol.asyncDispose]());
  const second = runAllInOne(join(folder, 'second'), env);
  onTestFinished(() => second[Symbol.asyncDispose]());
  expect(await second.exited).toBe(1);
  expect(second.output()).toMatch(
    /^.* WARN .*waiting for it to end\norrery: Another Orrery all in one uses the database at \S+, and .*set NATS_URL for both\.\n$/,
  );
  expect((await apiClient(first.url, first.key).get('/worlds')).status).toBe(200);
  // Once the first has ended, the next one serves: what it held is free.
  expect(await first.process.end('SIGTERM')).toBe(0);
  const third = await startHere(join(folder, 'first'), env);
  onTestFinished(() => third.process[Symbol.asyncDispose]());
  expect(third.key).toBe(first.key);
});
