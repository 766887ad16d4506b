import { writeFile } from 'node:fs/promises';
import { startModelServer } from '@orrery/testing/model-server';
import { BUILT_COMMAND, type System, startNode } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { followStream } from '../src/api/follow-stream.js';
import { aiRacingWorld, listedModel, thirdHorseWins } from '../src/worlds/ai-racing-world.js';
import { racingWorld } from '../src/worlds/racing-world.js';

export interface RacingSetup {
  /** The operator's list of models, empty at the start. */
  readonly models?: string;
  /** Where the command `orrery` finds the runtime's schema, if it is not where the gateway's is. */
  readonly runtimeDatabase?: () => string;
}

/** The main job, end to end: the same for every shape. */
export function playRacing(
  start: (cleanUp: (() => Promise<void>)[]) => Promise<System>,
  { models, runtimeDatabase }: RacingSetup = {},
): void {
  const cleanUp: (() => Promise<void>)[] = [];
  let system: System;
  beforeAll(async () => {
    system = await start(cleanUp);
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    for (const release of cleanUp.reverse()) await release();
  });

  it('obeys the operator, who pauses a deployment that its owner cannot resume', async () => {
    const api = apiClient(system.url, system.key);
    const { deployment } = await racingWorld(api);
    const address = deployment.split('/').at(-1) ?? '';
    const command = async (verb: string) => {
      const env = { ...system.commandEnv, ...(runtimeDatabase && { DATABASE_URL: runtimeDatabase() }) };
      await using orrery = startNode(BUILT_COMMAND, env, { args: ['deployments', verb, address] });
      expect(await orrery.exited, orrery.output()).toBe(0);
      return orrery.output().trim();
    };
    const train = () =>
      api.post(`${deployment}/execute`, { event: 'training', input: { horse: 'HORSE_1', hours: 4 } });
    expect(await command('pause')).toBe(`deployment ${address} is paused by the operator`);
    expect((await api.post(`${deployment}/resume`)).body.data).toMatchObject({ isPaused: true });
    expect(await train()).toMatchObject({ status: 409, body: { code: 'deployment_paused' } });
    expect(await command('resume')).toBe(`deployment ${address} is no longer paused by the operator`);
    expect((await train()).status).toBe(200);
  });

  it('defines a world, deploys it, executes events and tells the history', async () => {
    const api = apiClient(system.url, system.key);
    const { deployment } = await racingWorld(api);

    const training = await api.post(`${deployment}/execute`, {
      event: 'training',
      input: { horse: 'HORSE_1', hours: 4 },
    });
    expect(training).toMatchObject({
      status: 200,
      body: { success: true, data: { stateChanges: { 'horse:HORSE_1': { speed: 12 } } } },
    });
    const race = await api.post(`${deployment}/execute`, {
      event: 'race_result',
      input: { raceId: 'R1', winner: 'HORSE_1' },
    });
    expect(race.body.data).toMatchObject({
      event: 'race_result',
      eventVersion: 1,
      stateChanges: { 'horse:HORSE_1': { wins: 1, stamina: 80 } },
      result: { headline: 'HORSE_1 wins R1' },
      attestation: null,
      pushes: [],
    });

    const horse = await api.get(`${deployment}/entity-instances/HORSE_1`);
    expect(horse.body.data.state).toEqual({ wins: 1, speed: 12, stamina: 80 });
    const history = await api.get(`${deployment}/history`);
    expect(history.body.pagination).toEqual({ page: 1, limit: 20, total: 2, totalPages: 1 });
    expect(history.body.data.map((entry: { event: string }) => entry.event)).toEqual([
      'race_result',
      'training',
    ]);
    expect(history.body.data[0].prevHash).toBe(history.body.data[1].hash);
  });

  it('executes with a model that was listed after the start, and never with one that is not', async () => {
    if (models === undefined) return;
    const api = apiClient(system.url, system.key);
    const { deployment, run } = await aiRacingWorld(api);
    for (const answer of [await run(), await run('?dryRun=true')])
      expect(answer).toMatchObject({ status: 503, body: { code: 'ai_model_unavailable' } });
    expect((await api.get(`${deployment}/history`)).body.data).toEqual([]);
    await using server = await startModelServer({ behaves: thirdHorseWins, latencyMs: 50 });
    await writeFile(
      models,
      JSON.stringify([listedModel('listed', { isDefault: true, baseUrl: server.baseUrl })]),
    );
    const isListed = async () => expect((await api.get('/ai-models')).body.data).toHaveLength(1);
    await vi.waitFor(isListed);
    const races = await Promise.all(Array.from({ length: 5 }, () => run()));
    for (const { body } of races)
      expect(body.data?.stateChanges, JSON.stringify(body)).toEqual({ 'horse:HORSE_3': { wins: 1 } });
    const [entry] = (await api.get(`${deployment}/history`)).body.data;
    expect(entry).toMatchObject({ status: 'succeeded', llm: { model: 'listed' } });
    expect((await api.get(`${deployment}/history/verify`)).body.data.valid).toBe(true);
    expect(system.output()).not.toContain('sk-very-secret');
  });

  it('tells a live stream of executions as they commit', async () => {
    const api = apiClient(system.url, system.key);
    const { deployment } = await racingWorld(api);
    await using stream = await followStream(system, deployment);
    const tookMs: number[] = [];
    // Without the news of commits a stream looks every two seconds, and the first alone may be told sooner.
    const isTold = () => Math.min(...tookMs.slice(1)) < 1500;
    // A busy machine makes some slow, and not all.
    for (let run = 0; run < 6 || (run < 30 && !isTold()); run += 1) {
      const startedAt = performance.now();
      const input = { horse: 'HORSE_1', hours: 1 };
      const { body } = await api.post(`${deployment}/execute`, { event: 'training', input });
      expect(await stream.next()).toBe(body.data.seq);
      tookMs.push(performance.now() - startedAt);
    }
    expect(isTold(), `told after ${tookMs.map(Math.round)} ms`).toBe(true);
  });

  it('refuses what breaks a rule, applies nothing and keeps the reason', async () => {
    const api = apiClient(system.url, system.key);
    const { deployment } = await racingWorld(api);
    const race = { event: 'race_result', input: { raceId: 'R', winner: 'HORSE_1' } };
    for (let run = 0; run < 5; run += 1)
      expect((await api.post(`${deployment}/execute`, race)).status).toBe(200);
    const sixth = await api.post(`${deployment}/execute`, race);
    expect(sixth).toMatchObject({ status: 400, body: { success: false, code: 'invalid_state' } });
    const horse = await api.get(`${deployment}/entity-instances/HORSE_1`);
    expect(horse.body.data.state).toMatchObject({ wins: 5, stamina: 0 });
    const failed = await api.get(`${deployment}/history?status=failed`);
    expect(failed.body.data[0]).toMatchObject({
      status: 'failed',
      changes: [],
      error: { code: 'invalid_state' },
    });
  });

  it('answers bad requests with the decided errors', async () => {
    const api = apiClient(system.url, system.key);
    expect(await apiClient(system.url, 'orrery_nonsense').get('/worlds')).toMatchObject({
      status: 401,
      body: { code: 'unauthorized' },
    });
    expect(await api.get('/worlds/999999')).toMatchObject({ status: 404, body: { code: 'world_not_found' } });
    expect(await api.post('/worlds', { name: '', colour: 'red' })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
    expect(await api.raw('POST', '/worlds', '{"name":')).toMatchObject({
      status: 400,
      body: { code: 'invalid_json' },
    });
    const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
    expect(await api.raw('POST', '/worlds', deep)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
    expect(await api.raw('POST', '/worlds', '{"name":"x","__proto__":{"a":1}}')).toMatchObject({
      status: 400,
    });
    expect(await api.raw('POST', '/worlds', `{"name":"${'x'.repeat(1_100_000)}"}`)).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    expect(await api.get('/nowhere')).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
  });
}
