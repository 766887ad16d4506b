import { createOrrery, type VerifiedHistory } from '@orrery/sdk';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { withClient } from '@orrery/testing/servers';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyOfAnother } from '../src/access/callers.js';
import { type ApiClient, apiClient, checkedRequests } from '../src/api/api-client.js';
import { readJournal } from '../src/load/read-journal.js';
import { commandLine } from '../src/starting/command-line.js';
import { homeOf } from '../src/tampering/home-of.js';
import { startJudgedSystem } from '../src/tampering/judged-system.js';
import { rewriteChain } from '../src/tampering/rewrite-chain.js';
import { type Story, tamperedWorld } from '../src/tampering/tampered-world.js';
import { counting, makeWorld, plant } from '../src/worlds/make-world.js';

let database: TestDatabase;
let system: System;
let api: ApiClient;
let world: Awaited<ReturnType<typeof tamperedWorld>>;
beforeAll(async () => {
  database = await createTestDatabase();
  system = await startJudgedSystem(database.url);
  api = apiClient(system.url, system.key);
  world = await tamperedWorld(api);
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await database?.drop();
});

const verify = ({ world: of, address }: Story, token = system.key): Promise<VerifiedHistory> =>
  createOrrery({ url: system.url, token }).deployment(of, address).verifyHistory({ decisions: true });

/** The world with one execution of each kind. */
async function played(): Promise<Story> {
  const story = await world.play();
  await world.goOn(story);
  return story;
}
const EXECUTIONS = 105 + 9;

it('decides every execution again far from the service: reads, failures, follow-ups, draws, and what a model answered', async () => {
  const story = await played();
  const all = { rerun: EXECUTIONS, notRerun: {}, seeds: { checked: 3, notChecked: {} } };
  const { valid, firstDivergence, decisions } = await verify(story);
  expect({ valid, firstDivergence, decisions }).toEqual({
    valid: true,
    firstDivergence: null,
    decisions: all,
  });
  const { data } = (await api.get(`${story.path}/history/verify?decisions=true`)).body;
  expect(data).toMatchObject({ valid: true, decisions: all });
  const clone = await world.clone(story);
  expect(await verify(clone)).toMatchObject({ valid: true, decisions: { rerun: 2, notRerun: {} } });
});

it('knows the order of what a clone began with, and of what it has created since', async () => {
  const lineUp = {
    readEntities: [{ schema: 'horse' }],
    mutationSettings: { mode: 'direct', template: { result: { line: '{{ entities.horse.map(id, id) }}' } } },
  };
  const made = await makeWorld(api, {
    name: 'Line',
    schemas: [counting('horse', 'wins')],
    events: [{ name: 'line_up', firstVersion: lineUp }],
  });
  const source = await made.deploy();
  for (const id of ['C', 'B', 'A']) await plant(api, source.path, 'horse', id);
  for (const id of ['C', 'B']) await api.delete(`${source.path}/entity-instances/${id}`);
  await plant(api, source.path, 'horse', 'B');
  for (const [from, line] of [
    [{ sourceSeq: 4 }, ['C', 'B', 'A', 'D']],
    [{}, ['A', 'B', 'D']],
  ] as const) {
    const clone = await made.deploy({ bindings: [], sourceDeployment: source.address, ...from });
    await plant(api, clone.path, 'horse', 'D');
    const { body } = await api.post(`${clone.path}/execute`, { event: 'line_up', input: {} });
    expect(body.data.result).toEqual({ line });
    const story = { ...clone, world: made.address, clonedSeq: 1 };
    expect(await verify(story)).toMatchObject({ valid: true, decisions: { rerun: 1, notRerun: {} } });
  }
});

it('says of draws whose secret is not revealed that they are not checked, and not that they differ', async () => {
  const story = await world.play();
  const seeds = { checked: 0, notChecked: { unrevealed: 1 } };
  expect(await verify(story)).toMatchObject({ valid: true, decisions: { rerun: 105, notRerun: {}, seeds } });
  await api.post(`${story.path}/randomness/reveal`);
  const revealed = { checked: 1, notChecked: {} };
  expect(await verify(story)).toMatchObject({ valid: true, decisions: { rerun: 105, seeds: revealed } });
});

it('is a command that fails for a history that does not hold, whatever the server says', async () => {
  const story = await played();
  const { end } = commandLine(system.commandEnv);
  const command = ['verify', `${story.world}/${story.address}`, '--decisions'];
  expect((await end(...command)).stdout).toMatch(
    /^The history holds: 119 entries\.\n.*\n2 instances were compared .*\nNo checkpoint was compared.*\n114 executions were decided again here, with the same outcome\.\n3 seeds of random numbers were checked\.\n$/,
  );
  const journal = await readJournal(api, story.path);
  const last = journal.findLast(({ event }) => event === 'leaders')?.seq;
  await withClient(await homeOf(system, story.id), (client) =>
    rewriteChain(client, story.id, journal, ({ seq }) =>
      seq === last ? { result: { leaders: ['COLD'] } } : undefined,
    ),
  );
  expect(await end(...command)).toMatchObject({
    failed: true,
    stdout: expect.stringMatching(
      new RegExp(
        `^The history does NOT hold\\. Entry ${last}: its definition, decided again, gives something else\\.`,
      ),
    ),
  });
});

it('shows definitions to others as long as the setting isCodePublic says so', async () => {
  const story = await played();
  const other = await keyOfAnother({ DATABASE_URL: system.databaseUrl });
  const [asOther, asNobody] = [checkedRequests(system.url, other), checkedRequests(system.url)];
  const clock = (await readJournal(api, story.path)).findLast(({ event }) => event === 'clock');
  const below = `/definitions/${clock?.versionHash}`;
  const read = async () =>
    Promise.all([
      asOther('GET', `/api${story.path}${below}`),
      asNobody('GET', `/app/deployments/${story.address}${below}`),
    ]);
  const codes = async () => (await read()).map(({ status, body }) => body.code ?? status);
  expect(await codes()).toEqual(['deployment_not_found', 'deployment_not_found']);
  await api.post(`${story.path}/publish`);
  expect(await codes()).toEqual(['forbidden', 'forbidden']);
  expect(await verify(story, other)).toMatchObject({
    valid: true,
    decisions: { rerun: 0, notRerun: { no_definition: EXECUTIONS } },
  });
  await api.put(story.path, { isCodePublic: true });
  for (const { body } of await read())
    expect(body.data).toMatchObject({
      event: 'clock',
      mutationSettings: { template: { result: { at: '{{ timestamp }}' } } },
    });
  expect(await verify(story, other)).toMatchObject({
    decisions: { rerun: EXECUTIONS - 1, notRerun: { model: 1 } },
  });
  const [entry] = (await readJournal(api, story.path)).slice(-1);
  expect(entry).toMatchObject({ kind: 'settings_updated', input: { isCodePublic: true } });
  await api.put(story.path, { isCodePublic: false });
  expect(await codes()).toEqual(['forbidden', 'forbidden']);
});

it('shows no definition that another deployment of the world has executed', async () => {
  const [story, quiet] = [await played(), await played()];
  const path = quiet.path.slice(0, quiet.path.indexOf('/deployments'));
  await api.post(`${path}/events`, {
    name: `secret-${quiet.id}`,
    firstVersion: { mutationSettings: { mode: 'direct', template: { result: { secret: quiet.id } } } },
  });
  await api.post(`${quiet.path}/event-bindings`, [{ event: `secret-${quiet.id}`, eventVersion: 1 }]);
  await api.post(`${quiet.path}/execute`, { event: `secret-${quiet.id}`, input: {} });
  const [{ versionHash }] = (await api.get(`${quiet.path}/history?limit=1`)).body.data;
  await api.put(story.path, { isCodePublic: true });
  await api.post(`${story.path}/publish`);
  const asNobody = checkedRequests(system.url);
  const { body } = await asNobody('GET', `/app/deployments/${story.address}/definitions/${versionHash}`);
  expect(body.code).toBe('definition_not_found');
  // A database has the definitions that its own deployments have executed.
  const shown = system.homes.length > 1 ? quiet : story;
  expect((await api.get(`${shown.path}/definitions/${versionHash}`)).body.success).toBe(true);
});
