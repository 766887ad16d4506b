import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WorldContent } from './definitions.js';
import { readFolder } from './read-folder.js';
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
  async function folderWith(files: Record<string, string | Buffer>): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-write-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    return folder;
  }
  interface Exporting {
    readonly format?: 'yaml' | 'json';
    /** The answer to the question what may be removed. */
    readonly answer?: boolean;
  }
  /** What an export asks for, and tells. */
  async function exportTo(folder: string, { format = 'yaml', answer = false }: Exporting = {}) {
    const asked: (readonly string[])[] = [];
    const mayRemove = async (files: readonly string[]) => asked.push(files) > 0 && answer;
    const written = await writeFolder(folder, content, { format, isItsOwn: true, mayRemove });
    return { ...written, asked };
  }
  /** The files of a new folder after an export. */
  async function exported(files: Record<string, string | Buffer>, options: Exporting = {}) {
    const folder = await folderWith(files);
    const written = await exportTo(folder, options);
    const found = (await readdir(folder, { recursive: true })).filter((file) => /\.\w+$/.test(file));
    const texts = found.map(async (file) => [file, await readFile(join(folder, file), 'utf8')]);
    return { ...written, files: Object.fromEntries(await Promise.all(texts)) as Record<string, string> };
  }
  const derby = {
    'world.yaml': '# Ours.\nname: Derby\n',
    'schemas/a horse.yml':
      'attributes: [{type: integer, name: age}, {name: wins, type: integer}] # sorted\nname: horse\n',
    'events/race.yaml': '# As the council decided.\nname: race\nmutationSettings: {behaviorPrompt: Race.}\n',
  };

  it('keeps files that say what is stored: their names, comments and order', async () => {
    const race = '# As the council decided.\n{name: race, behaviorPrompt: Race.}\n';
    const { replaced, files } = await exported({ ...derby, 'events/race.yaml': race });
    expect(replaced).toEqual([]);
    expect(files).toEqual({
      ...derby,
      'events/race.yaml': race,
      'events/rest.yaml': 'name: rest\n',
      'schemas/stable.yaml': 'name: stable\n',
    });
  });

  it('writes anew what differs, cannot be read or has another format', async () => {
    const broken = { 'events/rest.yaml': 'name: [rest' };
    const { replaced, files } = await exported({ ...derby, ...broken });
    expect(replaced).toEqual([]);
    expect(files['events/race.yaml']).toBe('name: race\nbehaviorPrompt: Race.\n');
    expect(files['events/rest.yaml']).toBe('name: rest\n');
    const asJson = await exported(derby, { format: 'json' });
    expect([...asJson.replaced].sort()).toEqual(Object.keys(derby).sort());
    expect(Object.keys(asJson.files).every((file) => file.endsWith('.json'))).toBe(true);
  });

  it('keeps one file of a definition, and gives its name to no other', async () => {
    const text = 'name: race\nbehaviorPrompt: Race.\n';
    const { replaced, files } = await exported({
      ...{ 'world.yaml': 'name: Derby\n', 'events/race.yaml': text },
      'events/second.yaml': text,
    });
    expect(replaced).toEqual(['events/second.yaml']);
    expect(files['events/race.yaml']).toBe(text);
    const swapped = await exported({ 'world.yaml': 'name: Derby\n', 'events/rest.yaml': text });
    expect(swapped.replaced).toEqual([]);
    expect(swapped.files['events/rest.yaml']).toBe(text);
    expect(
      Object.keys(swapped.files).filter((file) => /^events\/rest-[0-9a-f]{8}\.yaml$/.test(file)),
    ).toHaveLength(1);
  });

  const never = 'name: sprint\nbehaviorPrompt: Run. # Never applied.\n';

  it('loses a file of what the world does not have only where that is wanted', async () => {
    const files = { ...derby, 'events/sprint.yaml': never, 'schemas/cat.json': '{"name":"cat"}' };
    const left = await exported(files);
    expect(left).toMatchObject({
      asked: [['schemas/cat.json', 'events/sprint.yaml']],
      isRemoved: false,
      unknown: ['schemas/cat.json', 'events/sprint.yaml'],
    });
    expect(left.files).toMatchObject({ 'events/sprint.yaml': never, 'schemas/cat.json': '{"name":"cat"}' });
    const removed = await exported(files, { answer: true });
    expect([removed.isRemoved, Object.keys(removed.files).sort()]).toEqual([
      true,
      ['events/race.yaml', 'events/rest.yaml', 'schemas/a horse.yml', 'schemas/stable.yaml', 'world.yaml'],
    ]);
    // The export of a world whose files are all its own asks nobody.
    expect((await exported(derby)).asked).toEqual([]);
  });

  it('writes nothing in the place of what the world does not have', async () => {
    const { files } = await exported({ 'world.yaml': 'name: Derby\n', 'events/Race.yaml': never });
    expect(files['events/Race.yaml']).toBe(never);
    expect(Object.keys(files)).toContainEqual(expect.stringMatching(/^events\/race-[0-9a-f]{8}\.yaml$/));
  });

  it.each([
    ['that is no YAML', 'name: [sprint'],
    ['that holds no definition', 'nam: sprint\n'],
    ['of UTF-16', Buffer.from(`\ufeff${never}`, 'utf16le')],
    ['of Latin-1', Buffer.from('name: sprint\ndescription: Galopp für alle\n', 'latin1')],
  ])('keeps a file %s', async (_, text) => {
    for (const file of ['events/sprint.yaml', 'events/Race.yaml']) {
      const folder = await folderWith({ ...derby, [file]: text });
      const written = await exportTo(folder, { answer: true });
      expect(written).toMatchObject({ asked: [], replaced: [], unreadable: [file] });
      expect(await readFile(join(folder, file))).toEqual(Buffer.from(text));
    }
  });

  it('is nothing to do with what begins with a dot or is no file', async () => {
    const folder = await folderWith({ ...derby, 'events/.#rest.yaml~': '', 'events/.rest.yaml': never });
    await symlink('ann@house.1234', join(folder, 'events/.#race.yaml'));
    await mkdir(join(folder, 'events/old.yaml'));
    expect(await exportTo(folder, { answer: true })).toMatchObject({ asked: [], unreadable: [] });
    expect((await readdir(join(folder, 'events'))).sort()).toEqual([
      ...['.#race.yaml', '.#rest.yaml~', '.rest.yaml', 'old.yaml', 'race.yaml', 'rest.yaml'],
    ]);
    const read = await readFolder(folder);
    expect(read.events.map(({ name }) => name)).toEqual(['race', 'rest']);
  });

  it('may have links: those to files are written, one to nothing is said', async () => {
    const folder = await folderWith({ ...derby, 'shared.yaml': 'name: race\n' });
    await rm(join(folder, 'events/race.yaml'));
    await symlink('../shared.yaml', join(folder, 'events/race.yaml'));
    await symlink('gone.yaml', join(folder, 'events/sprint.yaml'));
    expect(await exportTo(folder, { answer: true })).toMatchObject({ unreadable: ['events/sprint.yaml'] });
    expect(await readFile(join(folder, 'shared.yaml'), 'utf8')).toBe('name: race\nbehaviorPrompt: Race.\n');
    await expect(readFolder(folder)).rejects.toThrow(
      `There is no file ${join(folder, 'events/sprint.yaml')}: mend it, or remove it from the folder.`,
    );
  });

  it('that takes no files is said to, with its path', async () => {
    const folder = await folderWith(derby);
    await mkdir(join(folder, 'schemas/stable.yaml'));
    await expect(exportTo(folder)).rejects.toThrow(
      `${join(folder, 'schemas/stable.yaml')} cannot be written (EISDIR): make it writable, or choose another folder.`,
    );
  });

  it.skipIf(process.getuid?.() === 0)('that is to be read only is said to be, with its path', async () => {
    const folder = await folderWith(derby);
    onTestFinished(() => chmod(join(folder, 'events'), 0o755));
    await chmod(join(folder, 'events'), 0o555);
    await expect(exportTo(folder)).rejects.toThrow(/events\/\w+\.yaml cannot be written \(EACCES\): make it/);
    await chmod(join(folder, 'events'), 0o000);
    await expect(exportTo(folder)).rejects.toThrow(/^The folder .*\/events cannot be read \(EACCES\)\.$/);
  });
});
