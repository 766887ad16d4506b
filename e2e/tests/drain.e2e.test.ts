import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { type NodeProcess, startFiveProcesses } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { isLost, keepAsking } from '../src/load/keep-asking.js';
import { startHere } from '../src/starting/start-here.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

const CLIENTS = 16;
/** Answers before the signal, so that it comes in the middle of the work. */
const BEFORE = 200;

/** Asks under load, ends the process amid it, and gives what was counted by whom. */
async function drain(url: string, key: string, process: NodeProcess) {
  const deployment = await (await counterWorld(apiClient(url, key))).deploy();
  let sent = 0;
  const asking = keepAsking(url, CLIENTS, () => ({
    method: 'POST',
    path: `/api${deployment}/execute`,
    headers: { authorization: `Bearer ${key}` },
    body: countRequest(sent++),
  }));
  await vi.waitFor(() => expect(sent).toBeGreaterThan(BEFORE + CLIENTS), { interval: 5 });
  const code = await process.end('SIGTERM');
  const replies = await asking;
  const done = replies.filter((one) => 'answer' in one && one.answer.status === 200).length;
  return { code, lost: replies.filter(isLost), done, deployment };
}

it('the all-in-one loses no request that it took when it is told to end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orrery-drain-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const first = await startHere(folder, { RATE_LIMITS: 'false' });
  onTestFinished(() => first.process[Symbol.asyncDispose]());
  const { code, lost, done, deployment } = await drain(first.url, first.key, first.process);
  expect(lost).toEqual([]);
  expect(code).toBe(0);
  const again = await startHere(folder, {});
  onTestFinished(() => again.process[Symbol.asyncDispose]());
  const counter = await apiClient(again.url, again.key).get(`${deployment}/entity-instances/C`);
  expect(counter.body.data.state.value).toBe(done);
});

describeWithNats('a gateway of its own', () => {
  const cleanUp: (() => Promise<void>)[] = [];
  let system: Awaited<ReturnType<typeof startFiveProcesses>>;
  beforeAll(async () => {
    const nats = await startNatsServer();
    const database = await createTestDatabase();
    cleanUp.push(() => database.drop(), nats.stop);
    system = await startFiveProcesses(
      { databaseUrl: database.url, natsUrl: nats.url },
      { RATE_LIMITS: 'false' },
    );
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    for (const release of cleanUp.reverse()) await release();
  });

  it('loses no request that it took when it is told to end', async () => {
    const { code, lost, done, deployment } = await drain(system.url, system.key, system.process('gateway'));
    expect(lost).toEqual([]);
    expect(code).toBe(0);
    system.restart('gateway');
    await vi.waitFor(async () => expect((await fetch(`${system.url}/readyz`)).status).toBe(200));
    const counter = await apiClient(system.url, system.key).get(`${deployment}/entity-instances/C`);
    expect(counter.body.data.state.value).toBe(done);
  });
});
