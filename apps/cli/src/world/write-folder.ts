import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeYaml } from '../documents/yaml-text.js';
import type { WorldContent } from './definitions.js';
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

/** Bytes of a file's name without its ending. */
const MAX_BYTES = 100;

/**
 * A file's name for a definition's: its letters and digits of any language, the rest percent-encoded. Files are told apart
 * by the `name` in them, so it need not be turned back.
 * @param taken names of other files, in lower case: some file systems take no two that differ in case alone
 */
export function fileNameOf(name: string, taken: ReadonlySet<string> = new Set()): string {
  const safe = name.replaceAll(/[^\p{L}\p{N}._ -]|^[. -]|[. ]$/gu, encoded);
  const isFree = Buffer.byteLength(safe) <= MAX_BYTES && !taken.has(safe.toLowerCase());
  return isFree ? safe : `${cut(safe)}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

/** As `encodeURIComponent`, which leaves some signs as they are. */
const encoded = (sign: string): string =>
  [...Buffer.from(sign)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

function cut(text: string): string {
  let short = '';
  for (const sign of text) {
    if (Buffer.byteLength(short + sign) > MAX_BYTES) break;
    short += sign;
  }
  return short;
}
