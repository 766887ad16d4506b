import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeYaml } from '../documents/yaml-text.js';
import type { WorldContent } from './definitions.js';
import { fileNameOf } from './file-name.js';
import { ENDING } from './read-folder.js';

export type FileFormat = 'yaml' | 'json';

/** Writes a world as files and removes those of definitions that it no longer has. Resolves with the removed ones. */
export async function writeFolder(
  folder: string,
  content: WorldContent,
  format: FileFormat,
): Promise<string[]> {
  const texts = new Map([
    [`world.${format}`, textOf(content.world, format)],
    ...filesOf('schemas', content.schemas, format),
    ...filesOf('events', content.events, format),
  ]);
  for (const below of ['schemas', 'events']) await mkdir(join(folder, below), { recursive: true });
  for (const [file, text] of texts) await writeFile(join(folder, file), text);
  const old = (await definitionFiles(folder)).filter((file) => !texts.has(file));
  for (const file of old) await rm(join(folder, file));
  return old;
}

function filesOf(below: string, definitions: readonly { readonly name: string }[], format: FileFormat) {
  const taken = new Set<string>();
  return definitions.map((definition): [string, string] => {
    const name = fileNameOf(definition.name, taken);
    taken.add(name.toLowerCase());
    return [`${below}/${name}.${format}`, textOf(definition, format)];
  });
}

const textOf = (definition: object, format: FileFormat): string =>
  format === 'json' ? `${JSON.stringify(definition, null, 2)}\n` : writeYaml(definition);

/** The files of a folder that hold definitions. */
async function definitionFiles(folder: string): Promise<string[]> {
  const inFolder = async (below: string) =>
    (await readdir(join(folder, below)).catch(() => [])).filter((file) => ENDING.test(file));
  const top = (await inFolder('.')).filter((file) => file.replace(ENDING, '') === 'world');
  const lists = await Promise.all(
    ['schemas', 'events'].map(async (below) => (await inFolder(below)).map((file) => `${below}/${file}`)),
  );
  return [...top, ...lists.flat()];
}
