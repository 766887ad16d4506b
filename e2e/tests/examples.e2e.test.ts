import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type NodeProcess, repositoryRoot, startNode } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../src/starting/command-line.js';
import { type Started, startHere } from '../src/starting/start-here.js';

let folder: string;
let payments: NodeProcess;
let server: Started;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-examples-'));
  payments = startNode('packages/testing/dist/payments/main.js', {}, { args: [folder] });
  const [, PAYMENTS_FILE = ''] = await payments.waitFor(/PAYMENTS_FILE=(\S+) npm start/);
  server = await startHere(folder, { PAYMENTS_FILE });
});
afterAll(async () => {
  await server.process[Symbol.asyncDispose]();
  await payments[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** What an example writes. It runs as `npm run example` starts it. */
async function play(name: string): Promise<string> {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['examples/play.mjs', name], {
    cwd: repositoryRoot,
    env: { PATH, HOME, ORRERY_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [written, failure, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect([code, failure], written).toEqual([0, '']);
  return written;
}

describe('the example', () => {
  it('league makes a table, refuses what breaks its rules, and can be played again', async () => {
    // The second time the files take away the attribute that the first has added.
    for (const changes of [8, 1]) {
      const written = await play('league');
      expect(written).toContain(`{"changes":${changes}}`);
      expect(written).toContain('3 of 3 instances did not satisfy the schema, and 3 of them were mapped.');
      expect(written).toMatch(/refused: .*\(400 change_not_allowed\)/);
      expect(written).toMatch(/refused: .*\(400 invalid_state\)/);
      expect(written).toMatch(/team +Ash +4 +/);
      expect(written).toContain('champions:\n    - Oak\n    - Ash');
      expect(written).toContain('valid: true');
      expect(written).toMatch(/fixture_played +next-match +/);
    }
  });

  it('market sells for a price, and charges for nothing that fails', async () => {
    const written = await play('market');
    expect(written).toMatch(
      /refused: The execution was refused \(402\)\. It costs \$0\.05: 50000 units of USDC .* add --pay --max-usd 0\.05 --evm-key/,
    );
    expect(written).toMatch(/paid: .*"success":true/);
    expect(written).toMatch(/good +bread +2 +1 +0\n/);
    expect(written).toMatch(/the histories part at entry 4; [\s\S]*good:honey +stock +12 +10\n/);
    const { run, json } = commandLine({ ORRERY_DATA_DIR: folder });
    const [only, ...others] = await json(
      'payments',
      'list',
      'Harbour Market/Saturday',
      '--status',
      'settled',
    );
    expect([only.status, others]).toEqual(['settled', []]);
    expect(await run('history', 'list', 'Harbour Market/Saturday', '--status', 'failed')).toMatch(
      /order .* public .* invalid_state/,
    );
  });

  it('agent plays and pays a season through the Model Context Protocol', async () => {
    const written = await play('agent');
    expect(written).toContain('enter_horse, $0.01: Enters a horse');
    expect(written.match(/^enter_horse \{.* paid by 0x[0-9a-f]{64}$/gm)?.length).toBe(3);
    expect(written.match(/^run_race \{.* paid by 0x[0-9a-f]{64}$/gm)?.length).toBe(6);
    for (const horse of ['BLAZE', 'COMET', 'DUSK'])
      expect(written).toMatch(new RegExp(`horse +${horse} +3 +.*\\b2\\b`));
    expect(written.match(/settled/g)?.length).toBe(9);
  });

  it('dice are thrown by nobody, and each throw is checked', async () => {
    const written = await play('dice');
    expect(written.match(/^entry \d+: \w+ \d+, \w+ \d+: as thrown$/gm)).toHaveLength(3);
    expect(written).toMatch(/randomness_committed[\s\S]*secrets/);
    expect(written).toMatch(/round_paid +round +/);
    expect(written).toMatch(/rerun: 5[\s\S]*$/);
  });

  it('village lets a model move its people, on request and by schedule', async () => {
    const written = await play('village');
    expect(written).toMatch(/orrery\/sampler +.* true\n/);
    expect(written).toMatch(/\{"model":"orrery\/sampler","attempts":\d+,"result":\{"chronicle":/);
    expect(written).toMatch(/refused: .*\(400 invalid_state\)/);
    expect(written).toMatch(/status: paused[\s\S]*$/);
  });
});
