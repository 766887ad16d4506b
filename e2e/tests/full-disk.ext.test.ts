import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { startCounting } from '../src/load/start-counting.js';
import { type Started, startHere } from '../src/starting/start-here.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

const run = promisify(execFile);
/** One of them is for probes. */
const DEPLOYMENTS = 5;
const CLIENTS = 8;
const SIZE = '256m';

/** Mounts a file system of its own, which ends with `release`. Says why that is not permitted, if so. */
async function mountSmallDisk() {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-disk-'));
  const options = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0711`, 'orrery-test', folder];
  const refused = await run('mount', options).then(
    () => undefined,
    (error: { stderr?: string; message: string }) => error.stderr?.trim() || error.message,
  );
  const release = async () => {
    if (refused === undefined) await run('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true, force: true });
  };
  return { folder, refused, release };
}

const disk = await mountSmallDisk();
const isDemanded = process.getuid?.() === 0 && process.env['REQUIRE_BACKENDS'] === '1';
const isPossible = disk.refused === undefined || isDemanded;
const reason = isPossible ? '' : ` [SKIPPED, cannot mount a tmpfs: ${disk.refused}]`;
afterAll(disk.release);

describe.runIf(isPossible)(`the all-in-one on a disk of ${SIZE} that is full${reason}`, () => {
  const dataDirectory = join(disk.folder, 'data');
  const filler = join(disk.folder, 'filler');
  let started: Started;
  let api: ApiClient;
  beforeAll(async () => {
    expect(disk.refused).toBeUndefined();
    await chmod(disk.folder, 0o711);
    started = await startHere(dataDirectory, { RATE_LIMITS: 'false' });
    api = apiClient(started.url, started.key);
  });
  afterAll(() => started?.process.end());

  const fill = async () => {
    const { bavail, bsize } = await statfs(disk.folder);
    await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => undefined);
  };
  const load = async () => {
    const { deploy } = await counterWorld(api);
    const [probed = '', ...deployments] = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    return { probed, counting: startCounting({ api, deployments, clients: CLIENTS }) };
  };
  const refusals = async (probed: string) => {
    const codes: string[] = [];
    for (let probe = 0; probe < 20; probe += 1) {
      const { body } = await api.post(`${probed}/execute`, countRequest(probe));
      if (body.success !== true) codes.push(body.code);
    }
    return codes;
  };
  const readiness = async () => (await fetch(`${started.url}/readyz`)).status;

  afterEach(() => rm(filler, { force: true }));
  it('loses nothing acknowledged, refuses changes honestly, and goes on when there is space', async () => {
    const { counting, probed } = await load();
    await counting.acknowledged(200);
    await fill();
    await expect.poll(readiness).toBe(503);
    const refused = await refusals(probed);
    expect(await readiness()).toBe(503);
    await rm(filler);
    const freedAt = performance.now();
    await counting.acknowledged(counting.count() + 200);
    const servedAgainMs = performance.now() - freedAt;
    await counting.finish();
    const codes = [...new Set([...refused, ...counting.interruptions().map(({ code }) => code)])];
    process.stdout.write(`${codes}; served again after ${Math.round(servedAgainMs)} ms\n`);
    expect(refused.length).toBeGreaterThan(0);
    // A busy machine may not answer in time while PostgreSQL starts again.
    const honest = /^(storage_full|unavailable|deadline_exceeded|request_in_flight)$/;
    expect(codes.filter((code) => !honest.test(code))).toEqual([]);
    await expect.poll(readiness).toBe(200);
    expect(await counting.problems()).toEqual([]);
  });
});
