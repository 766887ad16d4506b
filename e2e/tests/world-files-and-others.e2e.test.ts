import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from '../src/starting/command-line.js';
import { startSystem } from '../src/starting/start-system.js';

let system: System;
let folder: string;
let orrery: CommandLine;
beforeAll(async () => {
  system = await startSystem();
  folder = await mkdtemp(join(tmpdir(), 'orrery-files-'));
  orrery = commandLine(system.commandEnv, async () => true);
  await put('derby/world.yaml', 'name: Derby\n');
  await put('derby/schemas/horse.yaml', HORSE);
  await put('derby/events/race.yaml', raceAs('The fastest wins.'));
  await orrery.run('world', 'apply', at('derby'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await system[Symbol.asyncDispose]();
});

const HORSE = 'name: horse\nattributes:\n  - {name: wins, type: integer}\n';
const raceAs = (prompt: string) => `name: race\nstateChanges: {horse: partial}\nbehaviorPrompt: ${prompt}\n`;
const at = (name: string) => join(folder, name);
const put = async (file: string, text: string) => {
  await mkdir(dirname(at(file)), { recursive: true });
  await writeFile(at(file), text);
};

describe('an export', () => {
  const exported = (name: string) => orrery.end('world', 'export', at(name), '--world', 'Derby');

  it('leaves files alone that are not known to be those of its world', async () => {
    await put('project/schemas/user.json', '{"type":"object"}');
    await put('project/README.md', 'A project.');
    const { failed, stderr } = await exported('project');
    expect([failed, stderr]).toEqual([
      true,
      `${at('project')} has no world file that says whose files these are: schemas/user.json. Choose another folder, or move them away.\n`,
    ]);
    expect((await readdir(at('project'), { recursive: true })).sort()).toEqual([
      ...['README.md', 'schemas', 'schemas/user.json'],
    ]);
    await rm(at('project/schemas/user.json'));
    expect((await exported('project')).failed).toBe(false);
  });

  it('leaves files of its world alone that say what the server has', async () => {
    const race = `# Decided in spring.\n${raceAs('"The fastest wins."')}`;
    await put('same/world.yaml', 'name: Derby # on grass\n');
    await put('same/schemas/a-horse.yml', HORSE);
    await put('same/events/race.yaml', race);
    expect(await exported('same')).toMatchObject({ failed: false, stderr: '' });
    const files = ['world.yaml', 'schemas/a-horse.yml', 'events/race.yaml'];
    expect(await Promise.all(files.map((file) => readFile(at(`same/${file}`), 'utf8')))).toEqual([
      ...['name: Derby # on grass\n', HORSE, race],
    ]);
    expect(await readdir(at('same/schemas'))).toEqual(['a-horse.yml']);
  });

  it('is refused where the world file cannot be read', async () => {
    await put('broken/world.yaml', 'name: [x');
    await put('broken/schemas/old.yaml', 'name: old\n');
    expect(await exported('broken')).toMatchObject({
      failed: true,
      stderr: expect.stringMatching(/world\.yaml, line 1, column \d+: /),
    });
    await put('broken/world.yaml', 'motto: none\n');
    expect((await exported('broken')).stderr).toBe(
      `${at('broken/world.yaml')} does not name its world: mend or remove it.\n`,
    );
    expect(await readFile(at('broken/schemas/old.yaml'), 'utf8')).toBe('name: old\n');
  });
});

describe('applying', () => {
  it('finds a world that is named in digits by its name', async () => {
    await put('seven/world.yaml', 'name: "7"\n');
    await orrery.run('world', 'apply', at('seven'));
    expect(await orrery.run('world', 'apply', at('seven'))).toContain('nothing to do');
    expect(await orrery.run('world', 'export', at('seven'))).toBe(
      `7: 0 schemas and 0 events in ${at('seven')}\n`,
    );
  });

  it('does not overwrite what somebody else has changed meanwhile', async () => {
    const edited = 'Whoever is oldest wins.';
    const meanwhile = async (...command: string[]) => {
      const editing = async () => (await orrery.end(...command)).code === 0;
      return commandLine(system.commandEnv, editing).end('world', 'apply', at('derby'));
    };
    await put('derby/events/race.yaml', raceAs('The luckiest wins.'));
    const refused = await meanwhile(
      ...['versions', 'update', 'Derby', 'race', '1', '--behavior-prompt', edited],
    );
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('(412 revision_mismatch)') });
    expect(refused.stderr).toContain('Nothing was changed: apply again, which shows what differs by now.\n');
    const version = await orrery.json('versions', 'get', 'Derby', 'race', '1');
    expect(version.behaviorPrompt).toBe(edited);
    await orrery.run('world', 'apply', at('derby'));

    await put('derby/world.yaml', 'name: Derby\ndescription: On grass.\n');
    await put('derby/schemas/horse.yaml', HORSE.replace('integer', 'float'));
    const partly = await meanwhile(
      ...['attributes', 'update', 'Derby', 'horse', 'wins', '--default-value', '7'],
    );
    expect(partly.stderr).toContain('1 of 2 changes were made before: apply again, which shows');
    expect(await orrery.json('attributes', 'get', 'Derby', 'horse', 'wins')).toMatchObject({
      ...{ type: 'integer', defaultValue: 7 },
    });
    await orrery.run('world', 'apply', at('derby'));
    expect(await orrery.run('world', 'apply', at('derby'))).toContain('nothing to do');
  });

  it('tells the number that a new version has', async () => {
    await orrery.run('versions', 'lock', 'Derby', 'race', '1');
    await orrery.run('versions', 'create', 'Derby', 'race', '--behavior-prompt', 'Nobody wins.');
    await orrery.run('versions', 'delete', 'Derby', 'race', '2');
    await put('derby/events/race.yaml', raceAs('The youngest wins.'));
    const planned = await orrery.json('world', 'apply', at('derby'), '--dry-run');
    expect(planned.changes).toEqual([{ what: 'change event', name: 'race' }]);
    const { changes } = await orrery.json('world', 'apply', at('derby'));
    expect(changes).toEqual([{ what: 'change event', name: 'race', version: 3 }]);
  });

  it('advises to map no instances where none can be mapped', async () => {
    for (const season of ['Season 1', 'Season 2']) {
      await orrery.run('deployments', 'create', 'Derby', season);
      await orrery.run('instances', 'create', `Derby/${season}`, 'horse', 'H1');
    }
    await orrery.run('deployments', 'lock', 'Derby/Season 2');
    await put('derby/schemas/horse.yaml', HORSE.replace('integer', 'float, constraints: {required: true}'));
    const { stderr } = await orrery.end('world', 'apply', at('derby'), '--dry-run');
    expect(stderr).toContain('1 of 1 instances in "Season 1"');
    expect(stderr).not.toContain('Season 2');
  });

  it('settles names that are typed in another form of Unicode, and an empty description', async () => {
    await put('fee/world.yaml', 'name: Fee\n');
    await put('fee/schemas/fee.yaml', 'name: Fée\n');
    const decomposed =
      'readEntities: [{schema: Fée}]\nstateChanges: {Fée: partial}\nreadHistory: {last: 2, events: [Fée]}\n';
    await put('fee/events/fee.yaml', `name: Fée\ndescription: ''\n${decomposed.normalize('NFD')}`);
    await orrery.run('world', 'apply', at('fee'));
    expect(await orrery.run('world', 'apply', at('fee'))).toContain('nothing to do');
  });

  it('warns of no event that the world has and that is not checked again', async () => {
    const naming =
      'name: after\nreadHistory: {last: 2, events: [Fée, gone]}\nbehaviorPrompt: Go on.\n' +
      'followUps: [{event: Fée}, {event: after, after: PT5M}, {event: lost}]\n';
    await put('fee/events/after.yaml', naming);
    const { stderr } = await orrery.end('world', 'apply', at('fee'));
    for (const name of ['gone', 'lost']) expect(stderr.split(`no event "${name}"`)).toHaveLength(2);
    expect(stderr).not.toContain('no event "Fée"');
  });

  it('takes more schemas than one request can hold', async () => {
    await put('large/world.yaml', 'name: Large\n');
    await put(
      'large/events/all.yaml',
      'name: all\nstateChanges: {s1: full, s2: full, s3: full, s4: full, s5: full}\n',
    );
    for (const name of ['s1', 's2', 's3', 's4', 's5'])
      await put(`large/schemas/${name}.json`, JSON.stringify({ name, attributes: [LARGE] }));
    await orrery.run('world', 'apply', at('large'));
    await put('large/world.yaml', 'name: Large\ndescription: Of many words.\n');
    await put('large/events/all.yaml', 'name: all\nstateChanges: {s1: full}\n');
    expect(await orrery.run('world', 'apply', at('large'))).toContain('is as the files say.');
  });

  const LARGE = {
    name: 'text',
    type: 'json',
    defaultValue: Array.from({ length: 25 }, () => 'x'.repeat(10_000)),
  };
});
