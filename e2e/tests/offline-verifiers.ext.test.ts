import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HistoryEntry } from '@orrery/contracts';
import { hashOf } from '@orrery/deciding';
import { createOrrery, type VerifiedHistory } from '@orrery/sdk';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { repositoryRoot, type System } from '@orrery/testing/system';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { describeWithProgram } from '../src/external/describe-with-program.js';
import { runClientsOver } from '../src/load/run-clients.js';
import { startSystem } from '../src/starting/start-system.js';
import { hashedOf } from '../src/tampering/rewrite-chain.js';
import { story } from '../src/world-model/arbitrary-command.js';
import { playStory } from '../src/world-model/play-story.js';
import { makeWorld } from '../src/worlds/make-world.js';
import { racingWorld } from '../src/worlds/racing-world.js';

const run = promisify(execFile);
const PROGRAM = join(repositoryRoot, 'examples/verification/verify_history.py');
/** A hundred, with `ORRERY_STORIES=100`, take some minutes. */
const WORLDS = Number(process.env.ORRERY_STORIES ?? 25);
const LANES = 10;
/** The service verifies few histories at once; who waits for it too long is refused. */
const VERIFIED_AT_ONCE = 2;
const seed = Number(process.env.ORRERY_SEED ?? 20_261_126);

interface Found {
  readonly seeds: { readonly checked: number; readonly unrevealed: number; readonly unchecked: number };
  readonly valid: boolean;
  readonly entries: number;
  readonly hash: string;
  /** Null: of a clone whose source is deleted. */
  readonly instances: number | null;
}

describeWithProgram('python3', 'verifiers that share nothing but the specification', () => {
  let database: TestDatabase;
  let system: System;
  let api: ApiClient;
  beforeAll(async () => {
    database = await createTestDatabase();
    system = await startSystem(database.url, { RATE_LIMITS: 'false' });
    api = apiClient(system.url, system.key);
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await database?.drop();
  });

  const inPython = async (...args: string[]): Promise<Found> => {
    const { PATH } = process.env;
    const { stdout } = await run('python3', [PROGRAM, ...args], { env: { PATH, ORRERY_KEY: system.key } });
    return JSON.parse(stdout);
  };
  const inTheSdk = (world: string, address: string): Promise<VerifiedHistory> =>
    createOrrery({ url: system.url, token: system.key })
      .deployment(world, address)
      .verifyHistory({ decisions: true });

  const inTheService = (worldAddress: string, address: string) =>
    createOrrery({ url: system.url, token: system.key }).get(
      '/api/worlds/{worldAddress}/deployments/{address}/history/verify',
      { path: { worldAddress, address }, query: { decisions: 'true' } },
    );

  /** All deployments of the worlds that stories have made, clones too. */
  async function deploymentsOf(): Promise<[world: string, address: string][]> {
    const found: [string, string][] = [];
    const orrery = createOrrery({ url: system.url, token: system.key });
    for await (const { address } of orrery.list('/api/worlds')) {
      const path = { worldAddress: address };
      for await (const one of orrery.list('/api/worlds/{worldAddress}/deployments', { path }))
        found.push([address, one.address]);
    }
    return found;
  }

  // A busy machine takes ten seconds for a world.
  const timeout = WORLDS * 60_000;
  it(`agree on the histories of ${WORLDS} random worlds, and on every decision in them`, {
    timeout,
  }, async () => {
    const stories = fc.sample(story(15), { numRuns: WORLDS, seed });
    await runClientsOver(LANES, stories, (one) => playStory(api, one));
    const deployments = await deploymentsOf();
    expect(deployments.length).toBeGreaterThan(WORLDS * 0.8);
    let rerun = 0;
    let ofLostSources = 0;
    await runClientsOver(VERIFIED_AT_ONCE, deployments, async ([world, address]) => {
      const [python, sdk] = await Promise.all([
        inPython(system.url, world, address),
        inTheSdk(world, address),
      ]);
      const { valid, entries, hash, instances, firstDivergence, decisions } = sdk;
      expect([address, firstDivergence]).toEqual([address, null]);
      expect(python).toMatchObject({ valid, entries, hash, instances });
      if (instances === null) {
        ofLostSources += 1;
        expect(decisions?.rerun).toBe(0);
        return;
      }
      expect([address, decisions?.notRerun]).toEqual([address, {}]);
      const service = await inTheService(world, address);
      expect(service).toMatchObject({ valid, entries, next: null, decisions: { rerun: decisions?.rerun } });
      rerun += decisions?.rerun ?? 0;
    });
    expect(rerun).toBeGreaterThan(WORLDS);
    expect(ofLostSources).toBeLessThan(deployments.length / 4);
  });

  it('agree on what was drawn, before the reveal and after it', async () => {
    const world = await makeWorld(api, {
      name: 'Inn',
      schemas: [],
      events: [{ name: 'throw', firstVersion: { mutationSettings: DIE } }],
    });
    const { path, address } = await world.deploy();
    const execute = () => api.post(`${path}/execute`, { event: 'throw', input: {} });
    await execute();
    await execute();
    const found = async () => {
      const [{ seeds }, { decisions }] = await Promise.all([
        inPython(system.url, world.address, address),
        inTheSdk(world.address, address),
      ]);
      return [seeds, decisions?.seeds];
    };
    expect(await found()).toEqual([
      { checked: 0, unrevealed: 2, unchecked: 0 },
      { checked: 0, notChecked: { unrevealed: 2 } },
    ]);
    await api.post(`${path}/randomness/reveal`);
    await execute();
    expect(await found()).toEqual([
      { checked: 2, unrevealed: 1, unchecked: 0 },
      { checked: 2, notChecked: { unrevealed: 1 } },
    ]);
  });

  it('reads what the commands print, from files, and holds it to a checkpoint', async () => {
    const { deployment } = await racingWorld(api);
    const race = { event: 'race_result', input: { raceId: 'R', winner: 'HORSE_1' } };
    await api.post(`${deployment}/execute`, race);
    const [, , , , address = ''] = deployment.split('/');
    const folder = await mkdtemp(join(tmpdir(), 'orrery-journal-'));
    try {
      await mkdir(join(folder, address));
      const put = (name: string, value: unknown) =>
        writeFile(join(folder, address, `${name}.json`), JSON.stringify(value));
      const { checkpoint, keys } = (await api.get(`${deployment}/head`)).body.data;
      const note = join(folder, 'checkpoint');
      await writeFile(note, checkpoint);
      await api.post(`${deployment}/execute`, race);
      for (const [name, path] of Object.entries(PARTS))
        await put(name, (await api.get(`${deployment}${path}`)).body.data);
      const read = (...more: string[]) => inPython('--folder', folder, address, ...more);
      const held = (key: string) => read('--checkpoint', note, '--key', key);
      const refusal = (found: Promise<Found>) => found.catch(({ stdout }) => JSON.parse(stdout).reason);
      expect(await read()).toMatchObject({ valid: true, entries: 4 });
      expect(await held(keys[0])).toMatchObject({ valid: true, entries: 4, covered: 3 });
      const [host, id] = keys[0].split('+');
      const other = `${host}+${id}+${Buffer.concat([Buffer.of(1), randomBytes(32)]).toString('base64')}`;
      expect(await refusal(held(other))).toBe('the key has not signed the checkpoint');

      const journal: HistoryEntry[] = (await api.get(`${deployment}${PARTS.journal}`)).body.data;
      const [last, ...before] = journal;
      await put('journal', [{ ...last, result: { headline: 'HORSE_2 wins' } }, ...before]);
      expect(await refusal(read())).toBe('the hash of entry 4 does not cover it');
      await put('journal', rehashed(journal, { caller: 'account:999' }));
      expect(await read()).toMatchObject({ valid: true, entries: 4 });
      expect(await refusal(held(keys[0]))).toBe('the entries are not those of the checkpoint');
      await put('deployment', { address: `0x${'5a'.repeat(20)}`, source: null });
      expect(await refusal(read())).toBe('what was read is of another deployment');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

const DIE = { mode: 'direct', template: { result: { die: '{{ random.int(1, 6) }}' } } };

/** What the commands print of a deployment. */
const PARTS = {
  deployment: '',
  journal: '/history?include=all&limit=100',
  instances: '/entity-instances?limit=100',
};

/** A journal, newest first, whose first entry is another one, with hashes that fit. */
function rehashed(journal: readonly HistoryEntry[], change: Partial<HistoryEntry>): HistoryEntry[] {
  let prevHash = journal.at(-1)?.prevHash ?? '';
  const entries = journal.toReversed().map((entry, at) => {
    const changed = { ...entry, ...(at === 0 && change), prevHash };
    prevHash = hashOf(hashedOf(changed));
    return { ...changed, hash: prevHash };
  });
  return entries.reverse();
}
