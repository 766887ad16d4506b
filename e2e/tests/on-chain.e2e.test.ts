import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Resources } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { query, withClient } from '@orrery/testing/servers';
import { repositoryRoot } from '@orrery/testing/system';
import { expect, it, onTestFinished, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { followStream } from '../src/api/follow-stream.js';
import { readJournal } from '../src/load/read-journal.js';
import { startLocalChain } from '../src/starting/start-local-chain.js';
import { startSystem } from '../src/starting/start-system.js';
import { homeOf } from '../src/tampering/home-of.js';
import { rewriteChain } from '../src/tampering/rewrite-chain.js';
import { racingWorld } from '../src/worlds/racing-world.js';

const run = promisify(execFile);
const patiently = { interval: 100 };

/** A system with a chain of its own, and a racing world on it. */
async function startPushing() {
  const resources = new Resources(PATIENT);
  onTestFinished(() => resources.release());
  const { anvil, env, contract } = await startLocalChain(resources);
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const system = await startSystem(database.url, env);
  onTestFinished(() => system[Symbol.asyncDispose]());
  const api = apiClient(system.url, system.key);
  const { world, deployment } = await racingWorld(api);
  const program = join(repositoryRoot, 'docs/read-pushes.mjs');
  const places = [world.split('/')[2] ?? '', deployment.split('/')[4] ?? ''];
  const read = (base: string) =>
    run(process.execPath, [program, anvil.url, contract, base, ...places], {
      env: { ...process.env, ORRERY_KEY: system.key },
    });
  /** Writes an entry anew, and all hashes from it on. */
  const rewrite = async (seq: number) => {
    const { id } = (await api.get(deployment)).body.data;
    const journal = await readJournal(api, deployment);
    const change = (entry: { seq: number }) => (entry.seq === seq ? { caller: 'account:999' } : undefined);
    await withClient(await homeOf(system, id), (client) => rewriteChain(client, id, journal, change));
  };
  return { api, system, deployment, read, rewrite, databaseUrl: database.url };
}

it('pushes executions to a chain, shows where they are, and a stranger reads them there', async () => {
  const { system, api, deployment, read, rewrite } = await startPushing();
  const bindings = `${deployment}/event-bindings`;
  const unknown = await api.put(bindings, [{ event: 'race_result', targetChains: ['near-testnet'] }]);
  expect(unknown).toMatchObject({ status: 400, body: { code: 'unknown_chain' } });
  await api.put(bindings, [{ event: 'race_result', targetChains: ['local'] }]);
  await using stream = await followStream(system, deployment);
  const race = { event: 'race_result', input: { raceId: 'R1', winner: 'HORSE_1' } };
  const answers = [
    await api.post(`${deployment}/execute`, race),
    await api.post(`${deployment}/execute`, race),
  ];
  expect(answers[0]?.body.data.pushes).toEqual([{ chain: 'local', status: 'queued' }]);
  expect((await stream.nextPush()).chain).toBe('local');

  await vi.waitFor(async () => {
    const { body } = await api.get(`${deployment}/history`);
    expect(body.data.map(({ pushes }: { pushes: { status: string }[] }) => pushes[0]?.status)).toEqual([
      'confirmed',
      'confirmed',
    ]);
  }, patiently);
  const entry = await api.get(`${deployment}/history/${answers[1]?.body.data.historyId}`);
  expect(entry.body.data.pushes).toEqual([
    {
      chain: 'local',
      number: 2,
      status: 'confirmed',
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      block: expect.any(Number),
      explorerUrl: null,
      error: null,
    },
  ]);

  const { stdout } = await read(system.url);
  expect(JSON.parse(stdout)).toEqual({
    valid: true,
    pushed: 2,
    waiting: 0,
    results: [1, 2].map((number) => ({ number, result: { headline: 'HORSE_1 wins R1' } })),
  });
  await rewrite(answers[1]?.body.data.seq);
  await expect(read(system.url)).rejects.toThrow('push 2 is not of the execution in its place');
});

it('pushes the head of an hour where a binding says so, and a stranger compares the journal with it', async () => {
  const { system, api, deployment, read, rewrite, databaseUrl } = await startPushing();
  const binding = { event: 'race_result', targetChains: ['local'], onchain: { head: 'hourly' } };
  await api.put(`${deployment}/event-bindings`, [binding]);
  const race = { event: 'race_result', input: { raceId: 'R1', winner: 'HORSE_1' } };
  const first = (await api.post(`${deployment}/execute`, race)).body.data;
  expect(first.pushes).toEqual([]);
  const timeOf = async (seq: number) => {
    const { body } = await api.get(`${deployment}/history?include=all&limit=1&after=${seq + 1}`);
    return body.data[0].executedAt as string;
  };
  const began = await timeOf(first.seq);
  let last = first.seq;
  for (let time = began; time === began; time = await timeOf(last))
    last = (await api.post(`${deployment}/execute`, race)).body.data.seq;
  // An hour that ends with the last of them: nobody waits for a real one.
  await vi.waitFor(async () => {
    const ended = 'update chain_pusher.due_heads set before = $1, due_at = now() returning before';
    expect(await query(databaseUrl, ended, [await timeOf(last)])).toHaveLength(1);
  }, patiently);
  const head = await vi.waitFor(async () => {
    const [push] = (await api.get(`${deployment}/pushes`)).body.data;
    expect(push).toMatchObject({ number: 1, status: 'confirmed', truncated: false });
    return push.head as { size: number; rootHash: string };
  }, patiently);
  expect(head.size).toBe(last - 1);
  const proof = await api.get(`${deployment}/consistency?from=${head.size}&to=${last}`);
  expect(proof.body.data.fromRootHash).toBe(head.rootHash);
  expect(JSON.parse((await read(system.url)).stdout)).toEqual({
    ...{ valid: true, pushed: 1, waiting: 0, results: [] },
    heads: [{ number: 1, size: head.size }],
  });
  await rewrite(2);
  await expect(read(system.url)).rejects.toThrow(
    `the first ${head.size} entries are not those that push 1 covers`,
  );
});
