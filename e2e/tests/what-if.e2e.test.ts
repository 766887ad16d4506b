import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrrery, type Deployment, type Orrery, OrreryError, type ReplayedEntry } from '@orrery/sdk';
import { says, startModelServer } from '@orrery/testing/model-server';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { createWallet } from '../src/public/signing-wallet.js';
import { type CommandLine, commandLine } from '../src/starting/command-line.js';
import { startSystem } from '../src/starting/start-system.js';
import { listedModel } from '../src/worlds/ai-racing-world.js';
import { counting, makeWorld } from '../src/worlds/make-world.js';

let system: System;
let api: ApiClient;
let orrery: Orrery;
let command: CommandLine;
let folder: string;
let server: Awaited<ReturnType<typeof startModelServer>>;
/** What the model says next, and how often it was asked. */
let asked = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-what-if-'));
  server = await startModelServer({
    behaves: (call) => {
      asked += 1;
      return says({ stateChanges: {}, result: { weather: asked % 3 === 0 ? 'rain' : 'sun' } })(call);
    },
  });
  const prices = { inputUsdPerMillionTokens: 10, outputUsdPerMillionTokens: 100 };
  const reached = { baseUrl: server.baseUrl, apiKeyEnv: null, ...prices };
  const models = [listedModel('oracle', { ...reached, isDefault: true }), listedModel('other', reached)];
  await writeFile(join(folder, 'models.json'), JSON.stringify(models));
  system = await startSystem(undefined, { AI_MODELS_FILE: join(folder, 'models.json') });
  api = apiClient(system.url, system.key);
  orrery = createOrrery({ url: system.url, token: system.key });
  command = commandLine(system.commandEnv);
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const race = (by: number | string) => ({
  inputSchema: { horse: 'string' },
  readEntities: [{ schema: 'horse', filter: ['horse'] }],
  stateChanges: { horse: 'partial' },
  guards: { create: false },
  executionSettings: { visibility: 'public' },
  mutationSettings: {
    mode: 'direct',
    template: {
      stateChanges: {
        'horse:{{input.horse}}': { wins: { $increment: by }, by: '{{walletAddress}}', at: '{{timestamp}}' },
      },
      result: { at: '{{unix}}', in: '{{deployment}}' },
    },
  },
});
const tick = {
  ...race(1),
  guards: null,
  executionSettings: {
    visibility: 'cron',
    cron: { schedule: '0 0 29 2 *', input: { horse: 'H{{counter}}' } },
  },
};
const forecast = {
  outputSchema: { weather: 'string' },
  stateChanges: {},
  behaviorPrompt: 'Say how the weather will be.',
  mutationSettings: { mode: 'ai' },
};

/** A history with all that happens to a deployment: writes, wallets, schedules, failures, other versions. */
async function plantHistory(name: string): Promise<{ deployment: Deployment; path: string; last: number }> {
  const world = await makeWorld(api, {
    name,
    schemas: [counting('horse', 'wins')],
    events: [
      { name: 'race', firstVersion: race(1) },
      { name: 'tick', firstVersion: tick },
      { name: 'forecast', firstVersion: forecast },
    ],
  });
  for (const by of [2, 10]) await api.post(`${world.path}/events/race/event-versions`, race(by));
  const { path, address } = await world.deploy();
  const ok = async (answer: Promise<{ status: number }>) => expect((await answer).status).toBeLessThan(300);
  await ok(api.post(`${path}/entity-instances`, { entitySchema: 'horse', instanceId: 'A' }));
  await ok(api.post(`${path}/publish`));
  const wallet = createWallet();
  for (const horse of ['A', 'A']) {
    const execution = { event: 'race', input: { horse } };
    await ok(api.post(`${path}/execute`, execution));
  }
  const publicly = createOrrery({ url: system.url });
  const toSign = { deployment: address, event: 'race' };
  await publicly.executePublic({ ...toSign, input: { horse: 'A' }, by: wallet.sign(toSign) });
  expect((await api.post(`${path}/execute`, { event: 'race', input: { horse: 'none' } })).status).toBe(400);
  await ok(api.put(`${path}/event-bindings`, [{ event: 'race', eventVersion: 2 }]));
  await ok(api.put(`${path}/entity-instances/A`, { state: { wins: 40, note: 'seen' } }));
  await ok(api.post(`${path}/schedules/tick/run`));
  const ofSchedules = async () => (await api.get(`${path}/history?trigger=cron`)).body.data.length;
  await expect.poll(ofSchedules).toBe(1);
  await ok(api.post(`${path}/execute`, { event: 'race', input: { horse: 'A' } }));
  await ok(api.post(`${path}/pause`));
  await ok(api.post(`${path}/resume`));
  await ok(api.delete(`${path}/entity-instances/A`));
  await ok(
    api.post(`${path}/entity-instances`, { entitySchema: 'horse', instanceId: 'A', state: { wins: 3 } }),
  );
  await ok(api.post(`${path}/execute`, { event: 'race', input: { horse: 'A' } }));
  const deployment = orrery.deployment(world.address, address);
  const { value } = await deployment.history({ include: 'all' }).next();
  return { deployment, path, last: value?.seq ?? 0 };
}

const forksIn = async ({ path: { worldAddress } }: Deployment) => {
  const all = [];
  for await (const one of orrery.list('/api/worlds/{worldAddress}/deployments', { path: { worldAddress } }))
    if (one.purpose === 'what_if') all.push(one);
  return all;
};

describe('a replay', () => {
  it('without changes gives the recorded history, entry by entry', async () => {
    const { deployment, last } = await plantHistory('Same');
    for (const from of [2, 5, last]) {
      const replay = deployment.replay({ from });
      const entries: ReplayedEntry[] = [];
      for await (const entry of replay) entries.push(entry);
      expect(entries.map(({ seq }) => seq)).toEqual(
        Array.from({ length: last - from + 1 }, (_, at) => from + at),
      );
      expect(entries.filter(({ differences }) => differences.length > 0)).toEqual([]);
      const triggers = entries.flatMap(({ replayed }) => replayed?.trigger ?? []);
      if (from === 2) expect(new Set(triggers)).toEqual(new Set(['admin', 'public', 'cron']));
      const [run] = (await replay.comparison()).runs;
      expect(run).toMatchObject({ partsAt: null, parting: [], states: [], isKept: false, refused: 0 });
    }
    expect(await forksIn(deployment)).toEqual([]);
  });

  it('without changes gives the recorded history across a schema that has changed since', async () => {
    const { deployment, path, last } = await plantHistory('Schema');
    const { worldAddress } = deployment.path;
    const attribute = { name: 'level', type: 'integer', constraints: { required: true } };
    const attributes = `/worlds/${worldAddress}/entity-schemas/horse/attributes`;
    expect((await api.post(attributes, attribute)).status).toBe(201);
    const mapping = { entitySchema: 'horse', mapping: { level: 1 } };
    const { body } = await api.post(`${path}/entity-instances/map`, mapping);
    expect(body.data).toMatchObject({ unfit: body.data.mapped, misfits: [] });
    const same = await deployment.replay().comparison();
    expect(same.runs[0]).toMatchObject({ partsAt: null, states: [], refused: 0 });
    const reasons = [];
    for await (const { parts, replayed } of deployment.replay({ to: last, versions: { race: 3 } }))
      if (parts && replayed?.error) reasons.push(replayed.error);
    expect(reasons[0]).toMatchObject({ code: 'invalid_state', detail: expect.stringContaining('level') });
  });

  it('with another version or input shows where the histories part, and what is different in the end', async () => {
    const { deployment, last } = await plantHistory('Other');
    const { runs, events } = await deployment
      .replay({ versions: { race: 3 }, inputs: { [last]: { horse: 'none' } } })
      .comparison();
    expect(runs[0]).toMatchObject({ partsAt: 4, isCut: false });
    expect(runs[0]?.parting).toContain(last);
    expect(runs[0]?.states).toEqual([
      {
        instance: 'horse:A',
        original: expect.objectContaining({ wins: 5 }),
        replayed: { wins: 3 },
        attributes: ['wins', 'at'],
      },
    ]);
    expect(events.find(({ event }) => event === 'race')).toMatchObject({
      original: { succeeded: 5, failed: 1, refused: 0 },
      runs: [{ succeeded: 4, failed: 2, refused: 0 }],
    });
  });

  it('tells what models will cost, keeps within the budget, and shows how their outcomes spread', async () => {
    const { deployment, last } = await plantHistory('Models');
    for (let n = 0; n < 2; n += 1) await deployment.execute({ event: 'forecast' });
    const options = { from: last + 1, times: 3 };
    const before = asked;
    expect(await deployment.replay(options).estimate()).toMatchObject({
      runs: 3,
      executions: 6,
      withoutEstimate: 0,
      cost: { executions: 6, inputTokens: 600, outputTokens: 120, usd: expect.closeTo(0.018) },
    });
    expect(asked).toBe(before);
    const { runs, spreads, events } = await deployment.replay(options).comparison();
    expect(runs).toHaveLength(3);
    expect(events[0]?.runs.map(({ cost }) => cost.executions)).toEqual([2, 2, 2]);
    expect(spreads.map(({ outcomes }) => outcomes.reduce((sum, { count }) => sum + count, 0))).toEqual([
      3, 3,
    ]);
    expect(spreads.some(({ outcomes }) => outcomes.length > 1)).toBe(true);
    const other = await deployment.replay({ from: last + 1, to: last + 1, model: 'other' }).comparison();
    expect(other.runs[0]?.cost.usd).toBeGreaterThan(0);
    const poor = deployment.replay({ ...options, budgetUsd: 0.000_001 }).comparison();
    await expect(poor).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await forksIn(deployment)).toEqual([]);
  });

  it('deletes its fork when it is left, ended or fails, and keeps it where that is asked for', async () => {
    const { deployment } = await plantHistory('Left');
    for await (const { seq } of deployment.replay()) if (seq === 4) break;
    expect(await forksIn(deployment)).toEqual([]);
    const leaving = new AbortController();
    const ended = (async () => {
      for await (const _ of deployment.replay({ signal: leaving.signal })) leaving.abort();
    })();
    await expect(ended).rejects.toThrow();
    expect(await forksIn(deployment)).toEqual([]);
    const unknown = deployment.replay({ model: 'nobody' }).comparison();
    await expect(unknown).rejects.toBeInstanceOf(OrreryError);
    const { runs } = await deployment.replay({ keep: true }).comparison();
    const [kept, ...others] = await forksIn(deployment);
    expect([kept?.address, kept?.isKept, others]).toEqual([runs[0]?.fork, true, []]);
  });
});

describe('orrery replay', () => {
  it('shows both histories, and fails where they part if that is asked for', async () => {
    const { deployment, last } = await plantHistory('Command');
    const { end, run, json } = command;
    const same = await end('replay', 'Command/One', '--fail-if-parted');
    expect(same).toMatchObject({ failed: false });
    expect(same.stdout).toContain('all end as recorded');
    const shown = await run('replay', 'Command/One', '--event', 'race=3');
    expect(shown).toMatch(/^the histories part at entry 4; /);
    expect(shown).toMatch(/horse:A +wins +5 +13/);
    expect(await json('replay', 'Command/One', '--from', '4', '--event', 'race=3')).toMatchObject({
      from: 4,
      to: last,
      runs: [{ partsAt: 4 }],
    });
    expect(await run('replay', 'Command/One', '--dry-run')).toContain(
      `Entries 2 to ${last}: 7 executions and 4 written instances.`,
    );
    const parted = await end('replay', 'Command/One', '--event', 'race=3', '--fail-if-parted');
    expect(parted).toMatchObject({ failed: true });
    expect(await end('replay', 'Command/One', '--to', '999')).toMatchObject({ failed: true });
    expect(await forksIn(deployment)).toEqual([]);
  });

  it('asks before models are asked', async () => {
    const { deployment, last } = await plantHistory('Asking');
    await deployment.execute({ event: 'forecast' });
    const before = asked;
    await command.end('replay', 'Asking/One', '--from', String(last + 1));
    expect(asked).toBe(before);
    expect(
      await command.run('replay', 'Asking/One', '--from', String(last + 1), '--yes', '--times', '2'),
    ).toContain('Run 2: ');
    expect(asked).toBe(before + 2);
  });
});
