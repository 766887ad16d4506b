import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WorldContent } from './definitions.js';
import { fileNameOf, sortFiles, writeFolder } from './write-folder.js';

describe('the name of a file', () => {
  it('is that of its definition, as far as a file may have it', () => {
    expect(fileNameOf('race_result')).toBe('race_result');
    expect(fileNameOf('レース 1')).toBe('レース 1');
    expect(fileNameOf('a/b:c\\d%')).toBe('a%2Fb%3Ac%5Cd%25');
    expect(fileNameOf('.hidden')).toBe('%2Ehidden');
    expect(fileNameOf('..')).toBe('%2E%2E');
  });

  it('is no longer than file systems take, and another for another name', () => {
    const long = 'レ'.repeat(255);
    expect(Buffer.byteLength(fileNameOf(long))).toBeLessThan(200);
    expect(fileNameOf(long)).not.toBe(fileNameOf(`${long.slice(1)}x`));
    expect(fileNameOf('Horse', new Set(['horse']))).toMatch(/^Horse-[0-9a-f]{8}$/);
  });
});

it('removes a file that a written one may overwrite before that is written', () => {
  const files = [
    'world.json',
    'world.md',
    'README.md',
    'schemas/Horse.yaml',
    'schemas/dog.yaml',
    'events/a.txt',
  ];
  expect(sortFiles(files, ['world.json', 'schemas/horse.yaml', 'schemas/dog.yaml'])).toEqual({
    taken: ['world.json', 'schemas/Horse.yaml', 'schemas/dog.yaml'],
    respelt: ['schemas/Horse.yaml'],
    stale: [],
  });
  expect(sortFiles(files, ['world.yaml'])).toEqual({
    taken: ['world.json', 'schemas/Horse.yaml', 'schemas/dog.yaml'],
    respelt: [],
    stale: ['world.json', 'schemas/Horse.yaml', 'schemas/dog.yaml'],
  });
});

describe('a folder of a world', () => {
  const integer = (name: string) => ({ name, type: 'integer' as const });
  const content: WorldContent = {
    world: { name: 'Derby' },
    schemas: [{ name: 'horse', attributes: [integer('wins'), integer('age')] }, { name: 'stable' }],
    events: [{ name: 'race', behaviorPrompt: 'Race.' }, { name: 'rest' }],
  };
  /** The files of a new folder after an export. */
  async function exported(files: Record<string, string>, format: 'yaml' | 'json' = 'yaml') {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-write-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    const removed = await writeFolder(folder, content, { format, isItsOwn: true });
    const found = (await readdir(folder, { recursive: true })).filter((file) => /\.\w+$/.test(file));
    const texts = found.map(async (file) => [file, await readFile(join(folder, file), 'utf8')]);
    return { removed, files: Object.fromEntries(await Promise.all(texts)) as Record<string, string> };
  }
  const derby = {
    'world.yaml': '# Ours.\nname: Derby\n',
    'schemas/a horse.yml':
      'attributes: [{type: integer, name: age}, {name: wins, type: integer}] # sorted\nname: horse\n',
    'events/race.yaml': '# As the council decided.\nname: race\nmutationSettings: {behaviorPrompt: Race.}\n',
  };

  it('keeps files that say what is stored: their names, comments and order', async () => {
    const race = '# As the council decided.\n{name: race, behaviorPrompt: Race.}\n';
    const { removed, files } = await exported({ ...derby, 'events/race.yaml': race });
    expect(removed).toEqual([]);
    expect(files).toEqual({
      ...derby,
      'events/race.yaml': race,
      'events/rest.yaml': 'name: rest\n',
      'schemas/stable.yaml': 'name: stable\n',
    });
  });

  it('writes anew what differs, cannot be read or has another format', async () => {
    const broken = { 'events/rest.yaml': 'name: [rest' };
    const { removed, files } = await exported({ ...derby, ...broken });
    expect(removed).toEqual([]);
    expect(files['events/race.yaml']).toBe('name: race\nbehaviorPrompt: Race.\n');
    expect(files['events/rest.yaml']).toBe('name: rest\n');
    const asJson = await exported(derby, 'json');
    expect(asJson.removed.sort()).toEqual(Object.keys(derby).sort());
    expect(Object.keys(asJson.files).every((file) => file.endsWith('.json'))).toBe(true);
  });

  it('keeps one file of a definition, and gives its name to no other', async () => {
    const text = 'name: race\nbehaviorPrompt: Race.\n';
    const { removed, files } = await exported({
      ...{ 'world.yaml': 'name: Derby\n', 'events/race.yaml': text },
      'events/second.yaml': text,
    });
    expect(removed).toEqual(['events/second.yaml']);
    expect(files['events/race.yaml']).toBe(text);
    const swapped = await exported({ 'world.yaml': 'name: Derby\n', 'events/rest.yaml': text });
    expect(swapped.removed).toEqual([]);
    expect(swapped.files['events/rest.yaml']).toBe(text);
    expect(
      Object.keys(swapped.files).filter((file) => /^events\/rest-[0-9a-f]{8}\.yaml$/.test(file)),
    ).toHaveLength(1);
  });
});
