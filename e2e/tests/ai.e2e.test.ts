import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { says, startModelServer } from '@orrery/testing/model-server';
import { BUILT_COMMAND, type System, startAllInOne, startNode } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { keyOfAnother } from '../src/access/callers.js';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { startSystem } from '../src/starting/start-system.js';
import { aiRacingWorld, listedModel, thirdHorseWins } from '../src/worlds/ai-racing-world.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-ai-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function runOrrery({ url, key }: System, ...args: string[]) {
  const command = startNode(BUILT_COMMAND, {}, { args: [...args, '--url', url, '--key', key] });
  onTestFinished(() => command[Symbol.asyncDispose]());
  return { code: await command.exited, output: command.output() };
}

describe('the embedded default', () => {
  let system: System;
  let api: ApiClient;
  beforeAll(async () => {
    system = await startAllInOne();
    api = apiClient(system.url, system.key);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const orrery = (...args: string[]) => runOrrery(system, ...args);

  it('offers one model that says what it is', async () => {
    const { body } = await api.get('/ai-models');
    expect(body.data).toEqual([
      {
        modelId: 'orrery/sampler',
        modelDisplayName: 'Orrery sampler',
        modelDescription: expect.stringMatching(/sampler for trying things out, and no language model/),
        contextLength: expect.any(Number),
        attestationSupported: false,
        verifiable: false,
        isDefault: true,
      },
    ]);
  });

  it('executes an event that a model decides', async () => {
    const { deployment, run } = await aiRacingWorld(api);
    const { status, body } = await run();
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data).toMatchObject({ event: 'race', result: { headline: expect.any(String) } });
    const changed = Object.entries<Record<string, number>>(body.data.stateChanges);
    expect(changed.length).toBeGreaterThan(0);
    for (const [key, { wins = 0, stamina = 100 }] of changed) {
      expect(key).toMatch(/^horse:HORSE_[123]$/);
      expect(wins).toBeLessThanOrEqual(1);
      expect(stamina).toBeGreaterThanOrEqual(80);
      const { state } = (await api.get(`${deployment}/entity-instances/${key.slice(6)}`)).body.data;
      expect(state).toMatchObject(body.data.stateChanges[key]);
    }
    expect((await api.get(`${deployment}/history/verify`)).body.data.valid).toBe(true);
  });

  it('shows the texts of the model to the owner, and to others only where they are public', async () => {
    const { deployment, run } = await aiRacingWorld(api);
    const { historyId } = (await run()).body.data;
    await api.post(`${deployment}/publish`);
    const other = apiClient(system.url, await keyOfAnother(system.commandEnv));
    const llmFor = async (client: ApiClient) =>
      (await client.get(`${deployment}/history/${historyId}`)).body.data.llm;
    const own = await llmFor(api);
    expect(JSON.stringify(own.request)).toContain('A quiet racecourse.');
    expect(own).toMatchObject({ model: 'orrery/sampler', response: expect.any(String), usage: { usd: 0 } });
    const { request: _, response: __, ...rest } = own;
    const foreign = await llmFor(other);
    expect(JSON.stringify(foreign)).not.toMatch(/racecourse|127\.0\.0\.1/);
    expect(foreign.response).toBeUndefined();
    expect(foreign.usage).toEqual(rest.usage);
    await api.put(deployment, { isLLMPublic: true });
    expect(await llmFor(other)).toEqual(own);
  });

  it('tries an event from the command line and commits nothing', async () => {
    const { deployment, address } = await aiRacingWorld(api);
    const input = join(folder, 'input.json');
    await writeFile(input, '{"weather":"fog"}');
    const asked = ['events', 'try', '--deployment', address, '--event', 'race', '--input', input];
    const table = await orrery(...asked, '--times', '2', '--version', '1', '--model', 'orrery/sampler');
    expect(table.output).toMatch(/^race, version 1, orrery\/sampler: 2 of 2 valid\n/);
    expect(table.output).toMatch(/\nvalid +2\/2 +yes +yes\n/);
    expect(table.code).toBe(0);
    const json = JSON.parse((await orrery(...asked, '--times', '1', '--json')).output);
    expect(json).toMatchObject({
      event: 'race',
      valid: 1,
      tries: [{ valid: true, model: 'orrery/sampler' }],
    });
    expect((await api.get(`${deployment}/history`)).body.data).toEqual([]);
    const wrong = await orrery(...asked, '--version', '7');
    expect(wrong).toMatchObject({
      code: 1,
      output: expect.stringMatching(/\(400 unknown_event_version\)/),
    });
    expect((await orrery('events', 'try', '--deployment', '0x00', '--event', 'race')).output).toMatch(
      /^None of your worlds has a deployment named "0x00"\. There are: Season 1/,
    );
  });

  it('has a demo whose races it decides', async () => {
    const { code, output } = await orrery('demo', '--ai');
    expect(code, output).toBe(0);
    expect(output).toMatch(/^The races are decided by Orrery sampler\. A sampler for trying things out/);
    expect(output.match(/\{"result":\{"headline":/g)).toHaveLength(4);
    expect(output).toMatch(/"valid":true[\s\S]*HORSE_3 +\d/);
  });
});

describe('executions that wait for a model', () => {
  const WAITING = 100;
  const PLACES = 20;
  /** The first of them wait for their model until all others were answered: as long as a model may take. */
  const PATIENCE_MS = 600_000;
  const remark = { outputSchema: { headline: 'string' }, behaviorPrompt: 'Remark on the race.' };
  const template = { 'horse:HORSE_1': { wins: { $increment: 1 } } };

  it('leave their places under way to others', async () => {
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const answers = says({ stateChanges: {}, result: { headline: 'Fog.' } });
    await using server = await startModelServer({
      behaves: async (call) => {
        await gate;
        await answers(call);
      },
    });
    const file = join(folder, 'slow-models.json');
    const reached = { isDefault: true, baseUrl: server.baseUrl, apiKeyEnv: null, timeoutMs: PATIENCE_MS };
    await writeFile(file, JSON.stringify([listedModel('slow', reached)]));
    const unhurried = { AI_MODELS_FILE: file, AI_DEADLINE_MS: String(PATIENCE_MS) };
    await using system = await startSystem(undefined, { ...unhurried, MAX_IN_FLIGHT: String(PLACES) });
    const api = apiClient(system.url, system.key);
    const { world, deployment } = await aiRacingWorld(api);
    const direct = { mutationSettings: { mode: 'direct', template } };
    for (const [name, firstVersion] of Object.entries({ remark, tick: direct })) {
      expect((await api.post(`${world}/events`, { name, firstVersion })).status).toBe(201);
      expect(
        await api.post(`${deployment}/event-bindings`, [{ event: name, eventVersion: 1 }]),
      ).toMatchObject({
        status: 201,
      });
    }
    const execute = (event: string) => api.post(`${deployment}/execute`, { event, input: {} });
    const waiting: ReturnType<typeof execute>[] = [];
    // No more at once than find a place, also while those before them are about to leave theirs.
    for (let count = 1; count <= WAITING; count += 1) {
      waiting.push(execute('remark'));
      if (count % (PLACES / 2) === 0)
        await vi.waitFor(() => expect(server.calls.length).toBeGreaterThanOrEqual(count));
    }
    // None of the others is answered before it is let go, so none of these has waited for one.
    for (let count = 0; count < PLACES; count += 1) expect((await execute('tick')).status).toBe(200);
    letGo();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("the operator's list", () => {
  it('takes the place of the sampler, and is read again when it changes', async () => {
    await using server = await startModelServer({ behaves: thirdHorseWins });
    const file = join(folder, 'models.json');
    const write = (list: unknown) => writeFile(file, JSON.stringify(list));
    const reached = { isDefault: true, baseUrl: server.baseUrl, upstreamModel: 'upstream' };
    await write([listedModel('first', reached), listedModel('second')]);
    await using system = await startSystem(undefined, { AI_MODELS_FILE: file, SOME_KEY: 'sk-very-secret' });
    const api = apiClient(system.url, system.key);
    const offered = async () =>
      (await api.get('/ai-models')).body.data.map((one: { modelId: string }) => one.modelId);
    expect(await offered()).toEqual(['first', 'second']);
    expect(JSON.stringify((await api.get('/ai-models')).body)).not.toMatch(/127\.0\.0\.1|SOME_KEY|sk-very/);

    const demo = await runOrrery(system, 'demo', '--ai');
    expect(demo).toMatchObject({
      code: 0,
      output: expect.stringMatching(/HORSE_3 wins!"\}[\s\S]*HORSE_3 +1 /),
    });
    expect(server.calls).toHaveLength(4);
    for (const { body, headers } of server.calls)
      expect([body.model, headers.authorization]).toEqual(['upstream', 'Bearer sk-very-secret']);

    const chosen = await aiRacingWorld(api, { aiModelId: 'second' });
    const unchosen = await aiRacingWorld(api);
    const locked = await aiRacingWorld(api);
    expect((await api.post(`${locked.deployment}/lock`)).body.data.aiModelId).toBe('first');
    await write([listedModel('third')]);
    // Of several runtimes, which answer in turns, each reads the file by itself.
    const offeredInTurns = async () => [await offered(), await offered(), await offered(), await offered()];
    await vi.waitFor(async () => expect(await offeredInTurns()).toEqual(Array(4).fill(['third'])));
    for (const { run, deployment } of [chosen, unchosen, locked]) {
      expect(await run()).toMatchObject({ status: 503, body: { code: 'ai_model_unavailable' } });
      expect((await api.get(`${deployment}/history`)).body.data).toEqual([]);
    }
    expect(await api.put(chosen.deployment, { aiModelId: 'first' })).toMatchObject({
      status: 400,
      body: { code: 'unknown_ai_model', errors: [{ pointer: '/aiModelId' }] },
    });
    expect((await api.put(chosen.deployment, { aiModelId: 'third' })).status).toBe(200);
    expect(await api.put(locked.deployment, { aiModelId: 'third' })).toMatchObject({ status: 409 });
    expect((await api.put(chosen.deployment, { aiModelId: null })).body.data.aiModelId).toBeNull();

    await write([listedModel('fourth'), listedModel('fourth', { baseUrl: 'x' })]);
    await vi.waitFor(() => expect(system.output()).toContain('the list of AI models is not usable'));
    for (const place of ['/1/modelId', '/1/baseUrl']) expect(system.output()).toContain(place);
    expect(await offered()).toEqual(['third']);
    expect(system.output()).not.toContain('sk-very');
  });
});
