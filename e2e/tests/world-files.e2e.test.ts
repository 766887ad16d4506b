import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type System, startAllInOne } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from '../src/starting/command-line.js';
import { startSystem } from '../src/starting/start-system.js';

let system: System;
let other: System;
let folder: string;
let orrery: CommandLine;
beforeAll(async () => {
  [system, other] = await Promise.all([startSystem(), startAllInOne()]);
  folder = await mkdtemp(join(tmpdir(), 'orrery-files-'));
  orrery = commandLine(system.commandEnv, async () => true);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await system[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

/** All files of a folder, by their paths. */
async function filesOf(path: string): Promise<Record<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = files.map(async (file) => [file.slice(path.length + 1), await readFile(file, 'utf8')]);
  return Object.fromEntries(await Promise.all(texts));
}

const at = (name: string) => join(folder, name);
const put = async (file: string, text: string) => {
  await mkdir(join(at(file), '..'), { recursive: true });
  await writeFile(at(file), text);
};

const RACE = `name: race
inputSchema:
  weather: string
readEntities:
  - schema: horse
stateChanges:
  horse: partial
behaviorPrompt: |
  All horses run one race.
  Decide by speed who wins.
mutationSettings:
  mode: ai
executionSettings:
  visibility: cron
  cron:
    schedule: 0 3 * * *
    timezone: Europe/Vienna
    input:
      weather: day {{counter}}
guards:
  maxDelta:
    wins: 1
  create: false
`;

/** A world as a person writes it, in spellings of its own. */
async function writeDerby(): Promise<void> {
  await put(
    'derby/world.yaml',
    'name: Derby\ndomainTags: [racing]\npromptSeed: A quiet country racecourse.\n',
  );
  await put(
    'derby/schemas/horse.yml',
    'name: horse\nattributes:\n  - {name: wins, type: integer, defaultValue: 0, constraints: {min: 0}}\n  - {name: speed, type: float}\n  - {name: notes, type: json, defaultValue: []}\n',
  );
  await put(
    'derby/schemas/owner.json',
    '{"name":"owner/of a stable","description":"Who pays","attributes":[{"name":"since","type":"string","constraints":{"pattern":"^[0-9]+$"}}]}',
  );
  await put('derby/events/race.yaml', RACE);
  await put(
    'derby/events/training.yaml',
    'name: training\ninputSchema: {horse: string}\nstateChangeSchema: {horse: partial}\nmutationSettings:\n  template:\n    horse:{{input.horse}}:\n      speed: {$increment: 0.5}\nexecutionSettings: {priceUsd: 0.05, visibility: public}\n',
  );
  await put('derby/events/idea.yaml', 'name: idea\n');
}

describe('a world as files', () => {
  it('is applied, and then there is nothing to do', async () => {
    await writeDerby();
    const applied = await orrery.json('world', 'apply', at('derby'));
    expect(applied).toMatchObject({ applied: true, left: [] });
    expect(
      applied.changes.map(({ what, name }: { what: string; name: string }) => `${what} ${name}`),
    ).toEqual([
      'create world Derby',
      'create schema horse',
      'create schema owner/of a stable',
      'create event idea',
      'create event race',
      'create event training',
    ]);
    expect(await orrery.run('world', 'apply', at('derby'))).toBe(
      `Derby (${applied.world}) is as the files say: there is nothing to do.\n`,
    );
  });

  it('is the same after export, apply to an empty server, and export', async () => {
    expect(await orrery.run('world', 'export', at('exported'))).toBe(
      `Derby: 2 schemas and 3 events in ${at('exported')}\n`,
    );
    const exported = await filesOf(at('exported'));
    expect(Object.keys(exported).sort()).toEqual([
      'events/idea.yaml',
      'events/race.yaml',
      'events/training.yaml',
      'schemas/horse.yaml',
      'schemas/owner%2Fof a stable.yaml',
      'world.yaml',
    ]);
    expect(exported['events/race.yaml']).toBe(RACE);
    expect(exported['schemas/horse.yaml']).toContain('    defaultValue: []\n');
    const elsewhere = commandLine(other.commandEnv, async () => true);
    await elsewhere.run('world', 'apply', at('exported'));
    await elsewhere.run('world', 'export', at('again'));
    expect(await filesOf(at('again'))).toEqual(exported);
    await elsewhere.run('world', 'export', at('again'), '--format', 'json');
    expect(Object.keys(await filesOf(at('again')))).toHaveLength(6);
    expect(await elsewhere.run('world', 'apply', at('again'))).toContain('nothing to do');
    expect(await orrery.run('world', 'apply', at('again'))).toContain('nothing to do');
  });

  it('is changed where the files differ: lines are shown, drafts change in place', async () => {
    await put('exported/world.yaml', 'name: Derby\n');
    await put(
      'exported/events/race.yaml',
      RACE.replace('by speed', 'by weather').replace(/guards:[\s\S]*/, ''),
    );
    await put(
      'exported/schemas/horse.yaml',
      'name: horse\nattributes:\n  - {name: age, type: integer}\n  - {name: wins, type: integer}\n',
    );
    const shown = await orrery.run('world', 'apply', at('exported'), '--dry-run');
    expect(shown).toContain('~ event race: version 1, which is a draft, changes in place');
    expect(shown).toContain('    -  Decide by speed who wins.\n    +  Decide by weather who wins.');
    expect(shown).toMatch(/~ schema horse\n[\s\S]*-\s+- name: speed/);
    expect(await orrery.run('world', 'apply', at('exported'), '--dry-run')).toBe(shown);
    await orrery.run('world', 'apply', at('exported'));
    expect(await orrery.run('world', 'apply', at('exported'))).toContain('nothing to do');
    expect(await orrery.json('versions', 'get', 'Derby', 'race', '1')).toMatchObject({ guards: null });
    expect(await orrery.json('worlds', 'get', 'Derby')).toMatchObject({ domainTags: [], promptSeed: null });
  });

  it('gives a locked version a new one', async () => {
    await orrery.run('versions', 'lock', 'Derby', 'race', '1');
    await put('exported/events/race.yaml', RACE);
    expect(await orrery.run('world', 'apply', at('exported'))).toContain(
      '~ event race: a new version (version 1 is locked)',
    );
    expect(await orrery.json('versions', 'list', 'Derby', 'race')).toHaveLength(2);
    expect(await orrery.run('world', 'apply', at('exported'))).toContain('nothing to do');
    await put('exported/events/race.yaml', RACE.replace('one race', 'two races'));
    const { changes } = await orrery.json('world', 'apply', at('exported'), '--new-versions');
    expect(changes).toEqual([{ what: 'change event', name: 'race', version: 3 }]);
  });

  it('loses what the folder lacks only when asked to', async () => {
    await rm(at('exported/events/idea.yaml'));
    expect(await orrery.run('world', 'apply', at('exported'))).toContain(
      'left there without --prune: event idea.',
    );
    const { changes } = await orrery.json('world', 'apply', at('exported'), '--prune');
    expect(changes).toEqual([{ what: 'delete event', name: 'idea' }]);
    await orrery.run('schemas', 'delete', 'Derby', 'owner/of a stable');
    const { stderr } = await orrery.end('world', 'export', at('exported'));
    expect(stderr).toBe('removed schemas/owner%2Fof a stable.yaml, which the world no longer has\n');
  });

  it('is not changed by who says no, or where nobody can be asked', async () => {
    await put('exported/schemas/dog.yaml', 'name: dog\n');
    const refusing = commandLine(system.commandEnv, async () => false);
    expect(await refusing.end('world', 'apply', at('exported'))).toMatchObject({
      failed: false,
      stdout: '+ schema dog\n',
      stderr: 'Nothing was changed.\n',
    });
    expect((await orrery.run('schemas', 'list', 'Derby')).split('\n')).toHaveLength(3);
  });
});

describe('a folder that is wrong', () => {
  it('is refused with all places before anything is sent', async () => {
    await put('wrong/world.yaml', 'name: Wrong\nmotto: none\n');
    await put('wrong/schemas/horse.yaml', 'name: horse\nattributes:\n  - name: wins\n    type: number\n');
    await put('wrong/schemas/again.yaml', 'name: horse\n');
    const { failed, stderr } = await orrery.end('world', 'apply', at('wrong'));
    expect(failed).toBe(true);
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      `${at('wrong/world.yaml')}:2: /motto: The property "motto" is not known. Known here: name, description, domainTags, promptSeed.`,
      expect.stringMatching(/horse\.yaml:4: \/attributes\/0\/type: .*; found the text "number"\./),
      '',
    ]);
    await put('wrong/world.yaml', 'name: [Wrong');
    expect((await orrery.end('world', 'apply', at('wrong'))).stderr).toMatch(
      /world\.yaml, line 1, column \d+: /,
    );
    expect((await orrery.end('world', 'apply', at('nowhere'))).stderr).toMatch(
      /^There is no folder \/.*\/nowhere: /,
    );
  });

  const WIN = `name: win
readEntities:
  - schema: horse
mutationSettings:
  template:
    horse:H1:
      wins: "{{ entities.horse.H1.wins + input.n }}"
`;

  it('is checked by the server before anything is applied, with files and lines', async () => {
    await put('half/world.yaml', 'name: Half\n');
    await put('half/schemas/horse.yaml', 'name: horse\nattributes:\n  - {name: wins, type: integer}\n');
    await put(
      'half/schemas/dog.yaml',
      'name: dog\nattributes:\n  - {name: age, type: integer, defaultValue: x}\n',
    );
    await put(
      'half/events/win.yaml',
      WIN.replace('- schema: horse', '- schema: hrose').replace('n }}', ' }}'),
    );
    await put(
      'half/events/lose.yaml',
      'name: lose\nmutationSettings:\n  template:\n    hrose:H1: {wins: 0}\n',
    );
    for (const options of [['--dry-run'], []]) {
      const { failed, stderr } = await orrery.end('world', 'apply', at('half'), ...options);
      expect([failed, stderr.split('\n')]).toEqual([
        true,
        [
          'The server would refuse:',
          expect.stringContaining(`${at('half/schemas/dog.yaml')}:3: `),
          `${at('half/events/lose.yaml')}:4: The world has no entity schema "hrose". Did you mean "horse"? [unknown_entity_schema]`,
          expect.stringContaining(`${at('half/events/win.yaml')}:7: Line 1, column `),
          `${at('half/events/win.yaml')}:3: The world has no entity schema "hrose". Did you mean "horse"? [unknown_entity_schema]`,
          '',
        ],
      ]);
    }
    expect(await orrery.run('worlds', 'list', '--owner', 'me')).not.toContain('Half');
  });

  it('is warned of with files and lines, once, and with the deployments that run a changing draft', async () => {
    await rm(at('half/schemas/dog.yaml'));
    await rm(at('half/events/lose.yaml'));
    await put('half/events/win.yaml', WIN.replace('wins: "', 'winz: "'));
    const warning = `Warning: ${at('half/events/win.yaml')}:7: The entity schema "horse" has no attribute "winz". Did you mean "wins"? [unknown_attribute]\n`;
    for (const options of [['--dry-run'], []])
      expect((await orrery.end('world', 'apply', at('half'), ...options)).stderr).toBe(warning);
    await orrery.run('deployments', 'create', 'Half', 'Season 1', '--bind-all');
    await put('half/events/win.yaml', WIN);
    const apply = (...options: string[]) => orrery.end('world', 'apply', at('half'), ...options);
    expect((await apply('--dry-run')).stderr).toBe(
      'event win: version 1 is bound by "Season 1", which runs it as changed from then on; --new-versions leaves it as it is.\n',
    );
    expect((await apply('--new-versions')).stderr).toBe('');
    // What only saving can tell: version 2 is bound, and the change would make it dearer.
    await orrery.run('bindings', 'update', 'Half/Season 1', 'win@2');
    await put('half/events/win.yaml', `${WIN}executionSettings: {visibility: public, priceUsd: 0.5}\n`);
    expect((await apply()).stderr).toContain(
      `Warning: ${at('half/events/win.yaml')}:8: Deployments bind this version: 0x`,
    );
  });

  it('says which instances will not satisfy a schema that changes, and maps them', async () => {
    await orrery.run('instances', 'create', 'Half/Season 1', 'horse', 'OLD');
    const schema = await readFile(at('half/schemas/horse.yaml'), 'utf8');
    const renamed =
      'name: horse\nattributes:\n  - {name: laps, type: integer, constraints: {required: true}}\n';
    await put('half/schemas/horse.yaml', renamed);
    const { stderr } = await orrery.end('world', 'apply', at('half'), '--dry-run');
    expect(stderr).toContain(
      'schema horse: 1 of 1 instances in "Season 1" do not satisfy it as it is to be (The attribute "laps" is required.)',
    );
    await orrery.end('world', 'apply', at('half'));
    const map = ['instances', 'map', 'Half/Season 1', 'horse', 'laps={{ id == "OLD" ? 3 : 0 }}'];
    expect(await orrery.run(...map, '--dry-run')).toContain('1 of them would be mapped.');
    expect(await orrery.run(...map)).toContain('1 of them were mapped.');
    expect(JSON.parse(await orrery.run('instances', 'check', 'Half/Season 1', 'horse', '--json'))).toEqual({
      ...{ lookedAt: 1, unfit: 0, mappable: 0, misfits: [] },
    });
    await orrery.run('instances', 'delete', 'Half/Season 1', 'OLD');
    await put('half/schemas/horse.yaml', schema);
    await orrery.end('world', 'apply', at('half'));
  });

  it('is refused where only applying can tell, and goes on where it stopped', async () => {
    await orrery.run('instances', 'create', 'Half/Season 1', 'horse', 'H1');
    await orrery.run('bindings', 'remove', 'Half/Season 1', 'win');
    await rm(at('half/schemas/horse.yaml'));
    await rm(at('half/events/win.yaml'));
    await put('half/schemas/dog.yaml', 'name: dog\n');
    const { stderr } = await orrery.end('world', 'apply', at('half'), '--prune');
    expect(stderr).toMatch(/\(409 entity_schema_in_use\)\nRefused: DELETE \S+\/entity-schemas\/horse\n/);
    expect(stderr).toContain(
      '2 of 3 changes were made before: mend this one and apply again, which goes on here.',
    );
    await orrery.run('deployments', 'delete', 'Half/Season 1');
    const { changes } = await orrery.json('world', 'apply', at('half'), '--prune');
    expect(changes).toEqual([{ what: 'delete schema', name: 'horse' }]);
  });

  it("is not overwritten with another world, and another's world is not exported", async () => {
    expect((await orrery.end('world', 'export', at('half'), '--world', 'Derby')).stderr).toMatch(
      /holds the world "Half", not "Derby": choose another folder/,
    );
    expect((await orrery.end('world', 'export', at('new'))).stderr).toBe(
      'You have 2 worlds: choose one with --world.\n',
    );
    const { address } = await orrery.json('worlds', 'publish', 'Derby');
    const [, stranger = ''] = (await orrery.run('keys', 'create', '--name', 'stranger')).split('\n');
    const asStranger = ['--world', address, '--key', stranger];
    expect((await orrery.end('world', 'export', at('new'), ...asStranger)).stderr).toBe(
      'The world "Derby" is not yours: its prompts and templates are not shown.\n',
    );
  });
});
