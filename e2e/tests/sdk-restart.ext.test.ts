import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrrery, type Deployment } from '@orrery/sdk';
import { freePort } from '@orrery/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { startHere } from '../src/starting/start-here.js';
import { racingWorld } from '../src/worlds/racing-world.js';

const PATIENCE_MS = 120_000;
const TRAINING = { event: 'training', input: { horse: 'HORSE_1', hours: 1 } };
const EXECUTIONS = 20;

/** The seqs that a stream of the whole journal tells, as they come. */
function follow(deployment: Deployment): number[] {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const seqs: number[] = [];
  const read = async () => {
    for await (const event of deployment.stream({ after: 0, include: 'all', signal: leaving.signal }))
      if (event.type === 'entry') seqs.push(event.entry.seq);
  };
  void read();
  return seqs;
}

it('the SDK carries executions and a stream over a killed server: each takes effect and is told once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-restart-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const port = String(await freePort());
  const start = async () => {
    const started = await startHere(join(folder, 'data'), { PORT: port });
    onTestFinished(() => started.process[Symbol.asyncDispose]());
    return started;
  };
  const { process, url, key } = await start();
  const { deployment: path } = await racingWorld(apiClient(url, key));
  const [, , world = '', , address = ''] = path.split('/');
  const deployment = createOrrery({ url, token: key, retryForMs: PATIENCE_MS }).deployment(world, address);
  const told = follow(deployment);
  await vi.waitFor(() => expect(told).toEqual([1, 2]), PATIENCE_MS);

  const executions = Array.from({ length: EXECUTIONS }, () => deployment.execute(TRAINING));
  await Promise.race(executions);
  await process.end('SIGKILL');
  executions.push(...Array.from({ length: EXECUTIONS }, () => deployment.execute(TRAINING)));
  await start();

  const answers = await Promise.all(executions);
  const seqs = Array.from({ length: 2 * EXECUTIONS }, (_, at) => at + 3);
  expect(answers.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(seqs);
  await vi.waitFor(() => expect(told).toEqual([1, 2, ...seqs]), PATIENCE_MS);
  expect(await deployment.verifyHistory()).toMatchObject({ valid: true, entries: 2 * EXECUTIONS + 2 });
});
