import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalHash, hashedEntry, type JsonObject } from '@orrery/contracts';
import { type CheckpointError, createOrrery, type Orrery } from '@orrery/sdk';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { type CommandLine, commandLine } from '../src/starting/command-line.js';
import { startSystem } from '../src/starting/start-system.js';
import { homeOf } from '../src/tampering/home-of.js';
import { startMirror } from '../src/tampering/start-mirror.js';
import { counting, type MadeDeployment, type MadeWorld, makeWorld } from '../src/worlds/make-world.js';

const run = {
  inputSchema: { id: 'string' },
  stateChanges: { horse: 'partial' },
  mutationSettings: { mode: 'direct', template: { 'horse:{{input.id}}': { wins: { $increment: 1 } } } },
};

let database: TestDatabase;
let system: System;
let api: ApiClient;
let orrery: Orrery;
let command: CommandLine;
let folder: string;
let world: MadeWorld;
let keys: readonly string[];
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'orrery-witness-'));
  system = await startSystem(database.url);
  api = apiClient(system.url, system.key);
  orrery = createOrrery({ url: system.url, token: system.key });
  command = commandLine(system.commandEnv);
  world = await makeWorld(api, {
    name: 'Derby',
    schemas: [counting('horse', 'wins')],
    events: [{ name: 'run', firstVersion: run }],
  });
  const { path } = await world.deploy();
  keys = (await api.get(`${path}/head`)).body.data.keys;
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

/** A published deployment with so many entries. */
async function live(entries: number): Promise<MadeDeployment> {
  const deployment = await world.deploy();
  await api.post(`${deployment.path}/publish`);
  for (let left = entries - 2; left > 0; left -= 1) await race(deployment);
  return deployment;
}
const race = ({ path }: MadeDeployment) => api.post(`${path}/execute`, { event: 'run', input: { id: 'A' } });
const pathOf = ({ address }: MadeDeployment) => ({ worldAddress: world.address, address });
const verify = (deployment: MadeDeployment, options: object = {}) =>
  orrery.deployment(world.address, deployment.address).verifyHistory({ keys, ...options });

/** Writes another past: an input of this entry is another one, and all hashes from there on fit. */
async function rewrite({ path, id }: MadeDeployment, seq: number): Promise<void> {
  const home = await homeOf(system, id);
  const { data } = (await api.get(`${path}/history?include=all&limit=100`)).body;
  const entries = (data as (JsonObject & { seq: number })[]).reverse();
  let prevHash = '';
  for (const entry of entries) {
    if (entry.seq === seq) entry['input'] = { id: 'B' };
    if (entry.seq > seq) entry['prevHash'] = prevHash;
    const members = Object.keys(hashedEntry.shape).filter((member) => entry[member] !== undefined);
    prevHash = canonicalHash(Object.fromEntries(members.map((member) => [member, entry[member] ?? null])));
    await query(
      home,
      `update runtime.journal set hash = '${prevHash}', prev_hash = '${String(entry['prevHash'])}',
         input = '${JSON.stringify(entry['input'])}' where deployment_id = ${id} and seq = ${entry.seq}`,
    );
  }
  await query(home, `update runtime.journal_heads set hash = '${prevHash}' where deployment_id = ${id}`);
}

/** Takes the last entries away, races all of them, as if they had never been. */
async function cut({ id }: MadeDeployment, from: number): Promise<void> {
  const home = await homeOf(system, id);
  await query(
    home,
    `update runtime.instances i set revision = i.revision - lost.n,
       state = jsonb_set(i.state, '{wins}', to_jsonb((i.state->>'wins')::integer - lost.n))
     from (select count(*)::integer as n from runtime.journal where deployment_id = ${id} and seq >= ${from}) lost
     where i.deployment_id = ${id}`,
  );
  await query(home, `delete from runtime.journal where deployment_id = ${id} and seq >= ${from}`);
  await query(
    home,
    `update runtime.journal_heads h set seq = j.seq, hash = j.hash from runtime.journal j
     where h.deployment_id = ${id} and j.deployment_id = h.deployment_id and j.seq = ${from - 1}`,
  );
}

const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: CheckpointError) => error.fault,
  );

describe('the SDK', () => {
  it('accepts checkpoints that extend each other, with a key and without one', async () => {
    const deployment = await live(6);
    const first = await orrery.checkpoint(pathOf(deployment), { keys });
    expect(first).toMatchObject({ size: 6, lost: null });
    expect(first.origin.endsWith(`/${deployment.address}/1`)).toBe(true);
    await race(deployment);
    const stranger = createOrrery({ url: system.url });
    const { address } = deployment;
    const second = await stranger.checkpoint({ address }, { keys, after: first.note });
    expect(second.size).toBe(7);
    expect((await stranger.checkpoint({ address }, { keys, after: second.note })).note).toBe(second.note);
    expect(await faultOf(stranger.checkpoint({ address }, { keys: [] }))).toBe('unsigned');
  });

  it('proves that a checkpoint covers an entry, and no other one', async () => {
    const deployment = await live(9);
    const { note } = await orrery.checkpoint(pathOf(deployment), { keys });
    const { data } = (await api.get(`${deployment.path}/history?include=all`)).body;
    for (const { seq, hash } of data as { seq: number; hash: string }[]) {
      expect(await orrery.isCovered(pathOf(deployment), { seq, hash, note, keys })).toBe(true);
      const other = { seq, hash: 'f'.repeat(64), note, keys };
      expect(await orrery.isCovered(pathOf(deployment), other)).toBe(false);
    }
  });

  it('verifies a history against its head and an earlier checkpoint', async () => {
    const deployment = await live(5);
    const { note: checkpoint } = await orrery.checkpoint(pathOf(deployment), { keys });
    await race(deployment);
    const verified = await verify(deployment, { checkpoint });
    expect(verified).toMatchObject({ valid: true, entries: 6, signed: { size: 6 } });
    await expect(verify(deployment, { checkpoint, keys: undefined })).rejects.toThrow(/needs `keys`/);
    const other = await live(5);
    expect(await faultOf(verify(other, { checkpoint }))).toBe('other_journal');
  });

  it('sees with an earlier checkpoint alone that all of a history was written anew', async () => {
    const deployment = await live(8);
    const { note: checkpoint } = await orrery.checkpoint(pathOf(deployment), { keys });
    await race(deployment);
    await rewrite(deployment, 4);
    // Consistent in itself, and signed: nothing but the checkpoint contradicts it.
    expect((await api.get(`${deployment.path}/history/verify`)).body.data.valid).toBe(true);
    expect(await verify(deployment)).toMatchObject({ valid: true, entries: 9 });
    const { valid, firstDivergence } = await verify(deployment, { checkpoint });
    expect([valid, firstDivergence]).toMatchObject([false, { seq: 8, what: 'checkpoint_differs' }]);
    expect(await faultOf(orrery.checkpoint(pathOf(deployment), { keys, after: checkpoint }))).toBe(
      'rewritten',
    );
  });

  it('sees that the end of a history is gone', async () => {
    const deployment = await live(7);
    const { note: checkpoint } = await orrery.checkpoint(pathOf(deployment), { keys });
    await cut(deployment, 6);
    const { firstDivergence } = await verify(deployment, { checkpoint });
    expect(firstDivergence).toMatchObject({ seq: 6, what: 'missing_entry' });
    expect(await faultOf(orrery.checkpoint(pathOf(deployment), { keys, after: checkpoint }))).toBe('shorter');
  });
});

describe('`orrery witness`', () => {
  const witness = (deployment: MadeDeployment, ...more: string[]) =>
    command.end('witness', deployment.address, '--url', system.url, '--store', folder, '--once', ...more);
  const kept = ({ address }: MadeDeployment, kind: string) =>
    readFile(join(folder, `${address}.${kind}`), 'utf8');

  it('keeps the last checkpoint, and the keys that it met first', async () => {
    const deployment = await live(4);
    const first = await witness(deployment);
    expect(first.stderr).toMatch(/From now on it trusts .+compare this with what the operator tells/);
    expect(first.stdout).toMatch(new RegExp(`/${deployment.address}/1 {2}4 {2}[0-9a-f]{64}\n`));
    expect(await kept(deployment, 'keys')).toBe(`${keys.join('\n')}\n`);
    await race(deployment);
    const second = await witness(deployment);
    expect([second.failed, second.stderr]).toEqual([false, '']);
    expect(await kept(deployment, 'checkpoint')).toMatch(/^\S+\n5\n/);
    const names = (await readdir(folder)).filter((name) => name.startsWith(deployment.address));
    expect(names.sort()).toEqual([`${deployment.address}.checkpoint`, `${deployment.address}.keys`]);
  });

  it.each([
    ['rewritten', (deployment: MadeDeployment) => rewrite(deployment, 3), /The journal was rewritten/],
    [
      'cut',
      (deployment: MadeDeployment) => cut(deployment, 5),
      /had 6 entries and now has 4: its end is gone/,
    ],
  ])('ends with 2 where the history was %s, and keeps both checkpoints', async (_what, tamper, sentence) => {
    const deployment = await live(6);
    await witness(deployment);
    const before = await kept(deployment, 'checkpoint');
    await tamper(deployment);
    const { failed, stderr } = await witness(deployment);
    expect(failed).toBe(true);
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(/Both checkpoints are kept: .+\.checkpoint and .+\.refused\./);
    expect(await kept(deployment, 'checkpoint')).toBe(before);
    expect(await kept(deployment, 'refused')).toMatch(/^\S+\/1\n/);
  });

  it('says what a database lost that came back without its end', async () => {
    const deployment = await live(6);
    await witness(deployment);
    await cut(deployment, 6);
    // The owner remembers what was confirmed to it.
    await race(deployment);
    const { failed, stderr } = await witness(deployment);
    expect(failed).toBe(true);
    expect(stderr).toMatch(
      /The database lost the end of the journal: entries up to 6, .+ The journal goes on as \S+\/2\./,
    );
    const verified = await verify(deployment, { checkpoint: await kept(deployment, 'checkpoint') });
    expect(verified.firstDivergence).toMatchObject({ what: 'tail_lost' });
  });

  it('refuses what no trusted key has signed', async () => {
    const deployment = await live(3);
    const other = `orrery.test+00000000+${Buffer.concat([Buffer.of(1), Buffer.alloc(32, 9)]).toString('base64')}`;
    const { failed, stderr } = await witness(deployment, '--public-key', other);
    expect([failed, stderr]).toMatchObject([true, /None of the keys that are trusted has signed/]);
  });

  it('refuses what the operator has signed of another deployment', async () => {
    const [deployment, other] = [await live(3), await live(4)];
    await using mirror = await startMirror(system.url, deployment.address, other.address);
    const first = await witness(deployment, '--url', mirror.url);
    expect(first).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`not of ${deployment.address}.`),
    });
    await witness(deployment);
    const { code, stderr } = await witness(deployment, '--url', mirror.url);
    expect([code, stderr]).toMatchObject([2, /not of 0x.+\.\nBoth checkpoints are kept/]);
    expect(await kept(deployment, 'checkpoint')).toContain(deployment.address);
  });

  it('says what is wrong with what it is told', async () => {
    const deployment = await live(2);
    expect((await witness(deployment, '--every', '10')).stderr).toMatch(/a time such as 10s, 5m or 1h/);
    expect((await witness(deployment, '--public-key', 'abc')).stderr).toMatch(/"abc" is no public key/);
    const absent = { ...deployment, address: `0x${'0'.repeat(40)}` };
    expect((await witness(absent)).stderr).toMatch(/deployment_not_found/);
  });
});

describe('`orrery verify` with a checkpoint that was kept', () => {
  const file = (deployment: MadeDeployment) => join(folder, `${deployment.address}.kept`);
  const verifyWith = (deployment: MadeDeployment, ...more: string[]) =>
    command.end('verify', `${world.address}/${deployment.address}`, ...more);
  const key = () => ['--public-key', keys[0] ?? ''];
  /** A deployment whose checkpoint is kept. */
  async function keptOf(entries: number): Promise<MadeDeployment> {
    const deployment = await live(entries);
    expect(await verifyWith(deployment, ...key(), '--save', file(deployment))).toMatchObject({
      failed: false,
    });
    return deployment;
  }
  const compare = (deployment: MadeDeployment, ...more: string[]) =>
    verifyWith(deployment, ...key(), '--checkpoint', file(deployment), ...more);

  it('keeps a checkpoint, and says later that the history still begins with it', async () => {
    const deployment = await keptOf(4);
    expect(await readFile(file(deployment), 'utf8')).toMatch(/^\S+\/1\n4\n/);
    await race(deployment);
    const { failed, stdout, stderr } = await compare(deployment, '--save', file(deployment));
    expect([failed, stderr]).toEqual([false, '']);
    expect(stdout).toMatch(/^The history holds: 5 entries\.\n/);
    expect(stdout).toContain('The entries of the checkpoint that was kept are still those.');
    expect(await readFile(file(deployment), 'utf8')).toMatch(/^\S+\/1\n5\n/);
    const trusting = await verifyWith(deployment, '--checkpoint', file(deployment));
    expect([trusting.failed, trusting.stderr]).toMatchObject([false, /It trusts .+, as the server says/]);
  });

  it.each([
    [
      'was rewritten',
      (deployment: MadeDeployment) => rewrite(deployment, 3),
      /Entry 6: the entries are not those of the checkpoint that was kept\.\nThe history was rewritten/,
    ],
    [
      'lost its end',
      (deployment: MadeDeployment) => cut(deployment, 5),
      /Entry 5: an entry is missing\.\nEntries were taken out, or the end of the journal is gone/,
    ],
    [
      'says that the database lost its end',
      async (deployment: MadeDeployment) => {
        await cut(deployment, 6);
        await race(deployment);
      },
      /the database lost entries that the checkpoint covers\.\nIt came back without its last commits/,
    ],
  ])(
    'ends with 2 where the history %s, says what to do, and leaves what was kept',
    async (_what, tamper, sentence) => {
      const deployment = await keptOf(6);
      const before = await readFile(file(deployment), 'utf8');
      await tamper(deployment);
      const found = await compare(deployment, '--save', file(deployment));
      expect(found).toMatchObject({ failed: true, code: 2, stdout: expect.stringMatching(sentence) });
      expect(await readFile(file(deployment), 'utf8')).toBe(before);
    },
  );

  it('ends with 1 where nothing can be compared, and says why', async () => {
    const deployment = await keptOf(3);
    const other = await live(3);
    const refused = async (checkpoint: string, ...more: string[]) => {
      const { code, stderr } = await verifyWith(other, '--checkpoint', checkpoint, ...more);
      return [code, stderr];
    };
    expect(await refused(file(deployment), ...key())).toMatchObject([1, /The checkpoint is of .+, not of/]);
    expect(await refused(join(folder, 'none'), ...key())).toMatchObject([
      1,
      /There is no file .+none: give a file/,
    ]);
    expect(await refused(join(folder, `${deployment.address}.kept`), '--public-key', 'abc')).toMatchObject([
      1,
      /"abc" is no public key/,
    ]);
    const stranger = `orrery.test+00000000+${Buffer.concat([Buffer.of(1), Buffer.alloc(32, 9)]).toString('base64')}`;
    expect(await refused(file(deployment), '--public-key', stranger)).toMatchObject([
      1,
      /None of the keys that are trusted has signed/,
    ]);
  });
});
