import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@orrery/testing/servers';
import { BUILT_COMMAND, repositoryRoot, type System, startNode } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CommandLine, commandLine } from '../src/starting/command-line.js';
import { startSystem } from '../src/starting/start-system.js';

let system: System;
let folder: string;
let orrery: CommandLine;
beforeAll(async () => {
  system = await startSystem();
  folder = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  orrery = commandLine(system.commandEnv);
  await writeFile(file('training.yaml'), TRAINING);
  await writeFile(
    file('attributes.json'),
    '[{"name":"speed","type":"float","defaultValue":10},{"name":"wins","type":"integer","defaultValue":0}]',
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await system[Symbol.asyncDispose]();
});

/** A file in the folder. */
const file = (name: string) => join(folder, name);

const TRAINING = `
inputSchema: { horse: string, hours: integer }
readEntities:
  - schema: horse
    filter: [horse]
stateChanges: { horse: partial }
mutationSettings:
  mode: direct
  template:
    horse:{{input.horse}}:
      speed: "{{ entities.horse[input.horse].speed + 0.5 * input.hours }}"
`;

describe('the command `orrery`', () => {
  it('builds a world and runs it, without an address typed', async () => {
    const { run, json } = orrery;
    expect(await run('worlds', 'list')).toBe('none\n');
    const world = await json('worlds', 'create', 'Derby', '--domain-tags', 'racing,sport');
    expect(world).toMatchObject({ name: 'Derby', domainTags: ['racing', 'sport'] });
    await run('schemas', 'create', 'Derby', 'horse', '--attributes', file('attributes.json'));
    await run(
      'attributes',
      'create',
      'Derby',
      'horse',
      'stamina',
      'integer',
      '--constraints',
      '{min: 0}',
      '--default-value',
      '100',
    );
    await run('events', 'create', 'Derby', 'training', '--first-version', file('training.yaml'));
    await run('deployments', 'create', 'Derby', 'Season 1', '--bind-all');
    await run('instances', 'create', 'Derby/Season 1', 'horse', 'HORSE_1', 'speed=11');
    const trained = await json('execute', 'Derby/Season 1', 'training', 'horse=HORSE_1', 'hours=4');
    expect(trained.stateChanges).toEqual({ 'horse:HORSE_1': { speed: 13 } });
    // As a table, and where a deployment is named alone.
    expect(await run('instances', 'list', 'Season 1')).toMatch(
      /^entitySchema +instanceId +revision +wins +speed +stamina\nhorse +HORSE_1 +2 +0 +13 +100\n$/,
    );
    expect(await run('history', 'verify', world.address.concat('/Season 1'))).toMatch(/^valid: true\n/);
    expect(await run('worlds', 'get', 'Derby')).toMatch(/^id: \d+\n[\s\S]*domainTags:\n {2}- racing\n/);
    await run('worlds', 'update', 'Derby', '--description', 'A racecourse', '--prompt-seed', 'Quiet.');
    const cleared = await json('worlds', 'update', String(world.id), '--clear', 'promptSeed');
    expect(cleared).toMatchObject({ description: 'A racecourse', promptSeed: null });
  });

  it('tries, repeats and postpones executions', async () => {
    const { json, run } = orrery;
    const training = ['execute', 'Derby/Season 1', 'training'];
    await writeFile(file('input.yaml'), 'horse: HORSE_1\nhours: 2\n');
    const tried = await json(...training, '--dry-run', '--input', file('input.yaml'));
    expect(tried).toMatchObject({ dryRun: true, stateChanges: { 'horse:HORSE_1': { speed: 14 } } });
    const once = [...training, '--input', '{"horse":"HORSE_1","hours":2}', '--idempotency-key', 'k1'];
    expect((await json(...once)).historyId).toBe((await json(...once)).historyId);
    const { executionId } = await json(...training, 'horse=HORSE_1', 'hours=2', '--async');
    await vi.waitFor(async () =>
      expect(await json('executions', 'get', 'Season 1', executionId)).toMatchObject({
        state: 'succeeded',
        answer: { stateChanges: { 'horse:HORSE_1': { speed: 15 } } },
      }),
    );
    const page = await orrery.end('history', 'list', 'Season 1', '--limit', '2', '--event', 'training');
    expect(page.stdout.split('\n')).toHaveLength(4);
    expect(page.stderr).toBe('2 of 3: --page and --limit show others, --all shows all of them\n');
    const all = await json('history', 'list', 'Season 1', '--limit', '2', '--event', 'training', '--all');
    expect(all.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill('succeeded'));
    const [first, second, ...others] = (
      await run('stream', 'Derby/Season 1', '--after', '0', '--include', 'all', '--count', '3')
    ).split('\n');
    expect(first).toMatch(/^1 {2}\S+Z {2}\w+$/);
    expect([second?.startsWith('2  '), others.length]).toEqual([true, 2]);
    const streamed = await run('stream', 'Season 1', '--after', '2', '--count', '1', '--json');
    expect(JSON.parse(streamed)).toMatchObject({ seq: 3, event: 'training', status: 'succeeded' });
    const tries = [
      '--deployment',
      'Season 1',
      '--event',
      'training',
      '--input',
      file('input.yaml'),
      '--times',
      '2',
    ];
    expect(await run('events', 'try', ...tries)).toContain('2 of 2 valid');
  });

  it('versions, binds, schedules, pauses, clones, locks and publishes', async () => {
    const { json, run } = orrery;
    const cron = '{visibility: cron, cron: {schedule: "0 3 * * *", input: {horse: HORSE_1, hours: 1}}}';
    await run(
      'versions',
      'create',
      'Derby',
      'training',
      '--body',
      file('training.yaml'),
      '--execution-settings',
      cron,
    );
    await run('bindings', 'update', 'Season 1', 'training@2');
    expect(await run('bindings', 'list', 'Season 1')).toMatch(/training +2 /);
    expect((await json('schedules', 'pause', 'Season 1', 'training')).status).toBe('paused');
    expect((await json('schedules', 'resume', 'Season 1', 'training')).status).toBe('active');
    expect(await json('schedules', 'run', 'Season 1', 'training')).toMatchObject({ kind: 'manual' });
    await vi.waitFor(async () =>
      expect(await run('schedules', 'occurrences', 'Season 1', 'training')).toMatch(
        /manual .* fired .* succeeded/,
      ),
    );
    expect((await json('cron', 'preview', '0 3 * * *', '--count', '2')).occurrences ?? []).toBeDefined();
    const fork = await json('deployments', 'fork', 'Season 1', 'What if', '--at-seq', '2');
    expect(fork.source.seq).toBe(2);
    expect(await run('instances', 'list', 'What if')).toMatch(/HORSE_1 +1 +0 +11 /);
    expect((await orrery.end('deployments', 'pause', 'What if')).stderr).toBe(
      '"What if" alone says too little. As its owner write WORLD/DEPLOYMENT: "Derby/What if"; as the operator give its address or id.\n',
    );
    expect((await orrery.end('deployments', 'pause', '999')).stderr).toMatch(
      /^There is no deployment 999 in /,
    );
    const paused = await json('deployments', 'pause', 'Derby/What if');
    expect(paused.isPaused).toBe(true);
    expect(await orrery.end('execute', 'What if', 'training', 'horse=HORSE_1', 'hours=1')).toMatchObject({
      failed: true,
    });
    expect((await json('deployments', 'resume', 'Derby/What if')).isPaused).toBe(false);
    await run('bindings', 'remove', 'What if', 'training');
    await run('bindings', 'add', 'What if', 'training@1');
    expect((await json('versions', 'lock', 'Derby', 'training', '1')).isLocked).toBe(true);
    expect(await json('deployments', 'publish', 'What if')).toMatchObject({ isPublic: true });
    await run('deployments', 'delete', 'What if');
  });

  it('changes attributes of an instance, and replaces its state only when told to', async () => {
    const { end, json } = orrery;
    const instance = ['Derby/Season 1', 'horse:HORSE_1'];
    const before = await json('instances', 'get', ...instance);
    const set = await json('instances', 'update', ...instance, 'wins=7', 'nick="Red"');
    expect(set.state).toEqual({ ...before.state, wins: 7, nick: 'Red' });
    const unset = await json('instances', 'update', ...instance, 'wins=8', '--unset', 'nick');
    expect(unset.state).toEqual({ ...before.state, wins: 8 });
    const late = await end('instances', 'update', ...instance, 'wins=9', '--if-match', '"1"');
    expect(late.stderr).toMatch(
      /\(412 revision_mismatch\)\nRefused: .*\nIt was changed by something else since it was read, so nothing was written/,
    );
    const both = await end('instances', 'update', ...instance, 'wins=9', '--state', '{wins: 1}');
    expect(both.stderr).toMatch(/^The whole state replaces what is there: give it alone/);
    const state = JSON.stringify(before.state);
    const replaced = await json('instances', 'update', 'Season 1', 'HORSE_1', '--state', state);
    expect(replaced.state).toEqual(before.state);
    expect((await end('instances', 'get', 'Derby/Season 1', 'HORSE_l')).stderr).toMatch(
      /\(404 entity_instance_not_found\)\nRefused: .*\n`orrery instances list .*\nDid you mean "HORSE_1"\?\n$/,
    );
  });

  it('finds an entry by its seq, and says what is no version', async () => {
    const { end, json } = orrery;
    const [entry] = await json('history', 'list', 'Season 1', '--limit', '1');
    expect((await json('history', 'get', 'Season 1', String(entry.seq))).id).toBe(entry.id);
    expect((await end('history', 'get', 'Season 1', '99999')).stderr).toMatch(
      /^The journal has no entry 99999: /,
    );
    expect((await end('bindings', 'update', 'Season 1', 'training@one')).stderr).toContain(
      '\n"one" is no version number: training@1 is version 1 of "training".\n',
    );
    expect((await end('history', 'list', 'Season 1', '--trigger', 'x')).stderr).toMatch(/^--trigger: /);
  });

  it('makes and ends keys of its account', async () => {
    const { json, run } = orrery;
    const key = await json('keys', 'create', '--own', '--name', 'ci', '--scopes', 'read');
    expect(key).toMatchObject({ name: 'ci', scopes: ['read'] });
    expect(await run('keys', 'list')).toMatch(/ci +read /);
    expect(await run('keys', 'create', '--name', 'outside')).toMatch(
      /\nAccount \d+ is new and owns nothing yet\. For a key of your own account: orrery keys create --own --name "outside"\n$/,
    );
    expect(await run('worlds', 'list', '--key', key.token)).toContain('Derby');
    expect((await json('me', '--key', key.token)).account).toEqual((await json('me')).account);
    await run('keys', 'revoke', key.id);
    const revoked = await orrery.end('worlds', 'list', '--key', key.token);
    expect(revoked.stderr).toMatch(
      /\(401 unauthorized\)\nRefused: .*\nThe key came from --key, the server is http/,
    );
    const astray = await orrery.end('worlds', 'list', '--url', `${system.url}/api`);
    expect(astray.stderr).toContain(`the command adds itself: ${system.url}\n`);
  });

  it('shows refusals with code and places, for programs as they came, and ends with 1', async () => {
    await writeFile(file('bad.yaml'), 'stateChanges: { horse: partly }\nguards: { maxInstances: many }\n');
    const refused = ['versions', 'create', 'Derby', 'training', '--body', file('bad.yaml')];
    const { failed, stdout, stderr } = await orrery.end(...refused);
    expect([failed, stdout]).toEqual([true, '']);
    expect(stderr).toMatch(
      /^\/\S+: .* \(400 validation_failed\)\n[\s\S]*\nRefused: POST \/api\/worlds\/0x\w+\/events\/training\/event-versions\n$/,
    );
    expect(stderr).toMatch(/\n {2}\/guards\/maxInstances: /);
    const problem = JSON.parse((await orrery.end(...refused, '--json')).stderr);
    expect(problem).toMatchObject({ success: false, code: 'validation_failed', status: 400 });
    const unknown = await orrery.end('deployments', 'get', 'Derby/Season 9');
    expect(unknown.stderr).toBe('The world has no deployment named "Season 9". There are: Season 1.\n');
    expect((await orrery.end('worlds', 'get', 'Nowhere')).stderr).toBe(
      'None of your worlds is named "Nowhere". There are: Derby.\n',
    );
    await orrery.run('worlds', 'create', 'Derby');
    expect((await orrery.end('worlds', 'get', 'Derby')).stderr).toMatch(
      /^Several are named "Derby": choose by address\.\n {2}0x\w{40}\n {2}0x\w{40}\n$/,
    );
  });

  it('says what to do where no server answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const args = ['worlds', 'list', '--url', url];
    await using process = startNode(BUILT_COMMAND, system.commandEnv, { args });
    expect([await process.exited, process.output()]).toEqual([
      1,
      `No Orrery answers at ${url}: run \`npm start\` in another terminal first, pass --url or set ORRERY_URL.\n`,
    ]);
  });
});

it('ends without a complaint where nobody reads its output any more', async () => {
  const ask = `"${process.execPath}" ${BUILT_COMMAND} completion bash | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', ask], { cwd: repositoryRoot, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['0\n', '']);
});

/** zsh is not on every machine. */
const shells = ['bash', 'zsh'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

it.each(shells)('has a completion script that %s takes', async (shell) => {
  const script = await orrery.run('completion', shell);
  const checked = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
  expect([checked.status, checked.stderr]).toEqual([0, '']);
});

it('completes commands, options and nothing else', async () => {
  const script = await orrery.run('completion', 'bash');
  const complete = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(orrery ${list}); COMP_CWORD=${words.length}; _orrery; echo "\${COMPREPLY[*]}"`;
    return spawnSync('bash', ['-s'], { input: `${script}\n${ask}`, encoding: 'utf8' })
      .stdout.trim()
      .split(' ');
  };
  expect(complete('wor')).toEqual(['world', 'worlds']);
  expect(complete('worlds', 'p')).toEqual(['publish']);
  expect(complete('entity-schemas', 'cr')).toEqual(['create']);
  expect(complete('execute', 'Derby/Season 1', '--idem')).toEqual(['--idempotency-key']);
  expect(complete('worlds', 'get', 'D')).toEqual(['']);
});
