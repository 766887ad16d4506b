import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createOrrery } from '@orrery/sdk';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { withClient } from '@orrery/testing/servers';
import { repositoryRoot, type System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient, created } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { readJournal } from '../src/load/read-journal.js';
import { startSystem } from '../src/starting/start-system.js';
import { homeOf } from '../src/tampering/home-of.js';
import { rewriteChain } from '../src/tampering/rewrite-chain.js';
import { startMirror } from '../src/tampering/start-mirror.js';
import { racingWorld } from '../src/worlds/racing-world.js';

let database: TestDatabase;
let system: System;
let api: ApiClient;
beforeAll(async () => {
  database = await createTestDatabase();
  system = await startSystem(database.url);
  api = apiClient(system.url, system.key);
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await database?.drop();
});

/** Runs the documentation's program, which shares no code with the service. */
async function verify(deployment: string, url = system.url): Promise<{ code: number; output: string }> {
  const [, , world = '', , address = ''] = deployment.split('/');
  const program = join(repositoryRoot, 'docs/verify-history.mjs');
  const child = spawn(process.execPath, [program, url, world, address, system.key]);
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, output: output + errors };
}

/** A season with successes, a failure, manual writes, a removed instance and changes of the deployment. */
async function season(): Promise<{ world: string; deployment: string }> {
  const paths = await racingWorld(api);
  const { deployment } = paths;
  const race = { event: 'race_result', input: { raceId: 'R', winner: 'HORSE_1' } };
  for (let run = 0; run < 6; run += 1) await api.post(`${deployment}/execute`, race);
  const state = {
    wins: 1,
    note: 'näïve ☃ \u2028',
    odds: 1e-7,
    big: 1e21,
    nested: { b: [null, true], a: {} },
  };
  await api.post(`${deployment}/entity-instances`, { entitySchema: 'horse', instanceId: 'a:b', state });
  await api.put(`${deployment}/entity-instances/a%3Ab`, { state: { wins: 2, note: '' } });
  await api.post(`${deployment}/entity-instances`, { entitySchema: 'horse', instanceId: 'gone' });
  await api.delete(`${deployment}/entity-instances/gone`);
  await api.post(`${deployment}/publish`);
  return paths;
}

async function cloneOf({ world, deployment }: { world: string; deployment: string }, sourceSeq: number) {
  const sourceDeployment = deployment.split('/').at(-1);
  const body = { name: 'Season 2', bindings: [], sourceDeployment, sourceSeq };
  return `${world}/deployments/${created(await api.post(`${world}/deployments`, body)).address}`;
}

describe("a stranger's program that knows only the documented recipe", () => {
  it('recomputes the chain and the fold of a deployment', async () => {
    const { deployment } = await season();
    expect(await verify(deployment)).toEqual({
      code: 0,
      output: `${JSON.stringify({ valid: true, entries: 13, instances: 2 })}\n`,
    });
    expect((await api.get(`${deployment}/history/verify`)).body.data).toMatchObject({
      valid: true,
      entries: 13,
    });
  });

  it('says how it is used where what it is given is no address', async () => {
    const { code, output } = await verify('/worlds/Derby/deployments/Season');
    expect([code, output.split('\n')[0]]).toEqual([
      2,
      'usage: node docs/verify-history.mjs <base URL> <world> <deployment> <token>',
    ]);
  });

  it('refuses another deployment than the one that it asks for', async () => {
    const [{ deployment }, other] = [await racingWorld(api), await racingWorld(api)];
    await using mirror = await startMirror(system.url, deployment, other.deployment);
    const { code, output } = await verify(deployment, mirror.url);
    expect([code, output]).toMatchObject([1, /it is of 0x\w+, not of 0x/]);
  });

  it('follows a clone to its source', async () => {
    const paths = await season();
    const clone = await cloneOf(paths, 9);
    const race = { event: 'race_result', input: { raceId: 'R2', winner: 'NEW' } };
    expect((await api.post(`${clone}/execute`, race)).status).toBe(200);
    expect(await verify(clone)).toEqual({
      code: 0,
      output: `${JSON.stringify({ valid: true, entries: 2, instances: 3 })}\n`,
    });
    for (const home of system.homes) expect(await findViolations(home)).toEqual([]);
  });

  it('holds the seeds of random numbers to the secret that is revealed', async () => {
    const { world, deployment } = await racingWorld(api);
    const template = { result: { die: '{{ random.int(1, 6) }}' } };
    const firstVersion = { mutationSettings: { mode: 'direct', template } };
    await api.post(`${world}/events`, { name: 'roll', firstVersion });
    await api.post(`${deployment}/event-bindings`, [{ event: 'roll', eventVersion: 1 }]);
    const roll = () => api.post(`${deployment}/execute`, { event: 'roll' });
    for (let run = 0; run < 3; run += 1) await roll();
    const seedsOf = async () => JSON.parse((await verify(deployment)).output).seeds;
    expect(await seedsOf()).toMatchObject({ checked: 0, unrevealed: 3 });
    await api.post(`${deployment}/randomness/reveal`);
    await roll();
    expect(await seedsOf()).toEqual({ checked: 3, unrevealed: 1, repeated: 0, beaconNotVerified: 0 });
    const [, , address = '', , name = ''] = deployment.split('/');
    const one = createOrrery({ url: system.url, token: system.key }).deployment(address, name);
    const drawn = async () => (await readJournal(api, deployment)).filter(({ event }) => event === 'roll');
    const [first, second, third, last] = await drawn();
    const outcomes = [first, second, third, last].map((entry) => one.verifyDraw(entry as never));
    expect((await Promise.all(outcomes)).map(({ outcome }) => outcome)).toEqual([
      ...['holds', 'holds', 'holds', 'unrevealed'],
    ]);
    // What its source drew is no part of a clone.
    const clone = await cloneOf({ world, deployment }, last?.seq ?? 0);
    expect(JSON.parse((await verify(clone)).output)).toEqual({ valid: true, entries: 1, instances: 1 });
    // Another seed than that of the secret, in a chain that holds.
    const record = (await api.get(deployment)).body.data;
    const journal = await readJournal(api, deployment);
    await withClient(await homeOf(system, record.id), (client) =>
      rewriteChain(client, record.id, journal, ({ seq, randomness }) =>
        seq === second?.seq && randomness
          ? { randomness: { ...randomness, seed: '1'.repeat(64) } }
          : undefined,
      ),
    );
    const { code, output } = await verify(deployment);
    expect(code).toBe(1);
    expect(output).toContain(`the seed of entry ${second?.seq} is made of something else`);
    const [, forged] = await drawn();
    expect(await one.verifyDraw(forged as never)).toMatchObject({ outcome: 'differs' });
  });

  it.each([
    [
      'an altered input',
      `update runtime.journal set input = '{"raceId": "X"}' where seq = 4`,
      /hash of entry 4/,
    ],
    [
      'an altered reason',
      `update runtime.journal set error = error || '{"detail": ""}' where status = 'failed'`,
      /hash/,
    ],
    ['a removed entry', 'delete from runtime.journal where seq = 5', /entry 5 does not follow/],
    [
      'two entries that changed places',
      'update runtime.journal set seq = case seq when 3 then -4 when 4 then -3 end where seq in (3, 4);' +
        ' update runtime.journal set seq = -seq where seq < 0',
      /entry 3/,
    ],
    [
      'an altered change',
      `update runtime.journal set changes = jsonb_set(changes, '{0,set,wins}', '99') where seq = 3`,
      /hash of entry 3/,
    ],
    [
      'an altered instance',
      `update runtime.instances set state = state || '{"wins": 99}' where instance_id = 'HORSE_1'`,
      /HORSE_1 is not what its changes say/,
    ],
    ['a removed instance', `delete from runtime.instances where instance_id = 'HORSE_1'`, /missing/],
  ])('catches %s, and so does the service itself', async (_, statement, reason) => {
    const { deployment } = await season();
    const record = (await api.get(deployment)).body.data;
    await tamper(statement, record.id);
    const { code, output } = await verify(deployment);
    expect(output).toMatch(reason);
    expect(code).toBe(1);
    expect((await api.get(`${deployment}/history/verify`)).body.data).toMatchObject({
      valid: false,
      firstDivergence: { seq: expect.any(Number) },
    });
  });

  it('learns of a past that is not known any more where the history does not hold, and is made no clone of it', async () => {
    const paths = await season();
    const record = (await api.get(paths.deployment)).body.data;
    await tamper(`update runtime.journal set changes = '{}' where seq = 3`, record.id);
    const body = { name: 'Season 2', bindings: [], sourceDeployment: record.address, sourceSeq: 4 };
    const instances = `${paths.deployment}/entity-instances`;
    for (const answer of [
      await api.get(`${instances}?atSeq=4`),
      await api.get(`${instances}/HORSE_1?atSeq=4`),
      await api.post(`${paths.world}/deployments`, body),
    ])
      expect(answer).toMatchObject({
        status: 409,
        body: {
          code: 'history_broken',
          detail: expect.stringContaining('does not hold at entry 3 (wrong_hash)'),
          facts: { atSeq: 4, divergence: { seq: 3, what: 'wrong_hash' } },
        },
      });
  });
});

/** Runs the statements, each of which changes something, for one deployment only. */
async function tamper(statements: string, deploymentId: number): Promise<void> {
  await withClient(await homeOf(system, deploymentId), async (client) => {
    for (const statement of statements.split(';')) {
      const { rowCount } = await client.query(`${statement} and deployment_id = ${deploymentId}`);
      if (rowCount === 0) throw new RangeError(`no row is changed by ${statement}`);
    }
  });
}
