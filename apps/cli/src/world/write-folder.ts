import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { toNfc } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { writeYaml } from '../documents/yaml-text.js';
import type { WorldContent } from './definitions.js';
import { saysTheSame } from './plan-changes.js';
import { type DefinitionKind, definitionsIn, ENDING, type FiledDefinition } from './read-folder.js';

export type FileFormat = 'yaml' | 'json';

/**
 * Writes a world as files and removes those of definitions that it no longer has. Resolves with the removed ones. A file that
 * says the same already stays as it is, with its name, its comments and its order.
 * @param isItsOwn whether the folder is known to hold this world; else no file in it is removed or overwritten
 * @throws StartupError before anything is written, naming the files that are in the way
 */
export async function writeFolder(
  folder: string,
  content: WorldContent,
  { format, isItsOwn }: { readonly format: FileFormat; readonly isItsOwn: boolean },
): Promise<string[]> {
  const kept = keptOf(isItsOwn ? await definitionsIn(folder) : [], content, format);
  const texts = new Map([
    ...(kept.world.has(content.world.name)
      ? []
      : [[`world.${format}`, textOf(content.world, format)] as const]),
    ...filesOf('schemas', content.schemas, format, kept.schema),
    ...filesOf('events', content.events, format, kept.event),
  ]);
  const names = [kept.world, kept.schema, kept.event].flatMap((files) => [...files.values()]);
  const { taken, respelt, stale } = sortFiles(await filesIn(folder), [...names, ...texts.keys()]);
  if (!isItsOwn && taken.length > 0) throw inTheWay(folder, taken);
  for (const below of ['schemas', 'events']) await mkdir(join(folder, below), { recursive: true });
  for (const file of respelt) await rm(join(folder, file));
  for (const [file, text] of texts) await writeFile(join(folder, file), text);
  for (const file of stale) await rm(join(folder, file));
  return [...respelt, ...stale];
}

/** Files by the names of the definitions in them. */
type FilesByName = ReadonlyMap<string, string>;

/** The files of this format that say what is stored; of one definition the first. */
export function keptOf(
  files: readonly FiledDefinition[],
  { world, schemas, events }: WorldContent,
  format: FileFormat,
): Record<DefinitionKind, FilesByName> {
  const ending = format === 'json' ? /\.json$/ : /\.ya?ml$/;
  const keptOfKind = (kind: DefinitionKind, stored: readonly FiledDefinition['definition'][]) => {
    const byName = new Map(stored.map((one) => [one.name, one]));
    const saying = files.filter(({ kind: its, file, definition }) => {
      const found = byName.get(definition.name);
      return its === kind && ending.test(file) && found !== undefined && saysTheSame(definition, found);
    });
    // The last of equal keys stays in a map.
    return new Map(saying.map(({ file, definition }) => [definition.name, file] as const).reverse());
  };
  return {
    world: keptOfKind('world', [world]),
    schema: keptOfKind('schema', schemas),
    event: keptOfKind('event', events),
  };
}

/**
 * What an export means for the files of a folder. `taken`: it removes or overwrites them. `stale`: they are removed once all
 * is written. `respelt`: before, since some file systems tell neither cases nor forms of Unicode apart, so that removing
 * such a file later would remove the one that was written.
 */
export function sortFiles(files: readonly string[], written: Iterable<string>) {
  const names = new Set(written);
  const folded = new Set([...names].map(foldedName));
  const isOverwritten = (file: string) => folded.has(foldedName(file));
  const old = files.filter((file) => isDefinition(file) && !names.has(file));
  return {
    taken: files.filter((file) => isOverwritten(file) || isDefinition(file)),
    respelt: old.filter(isOverwritten),
    stale: old.filter((file) => !isOverwritten(file)),
  };
}

const foldedName = (file: string): string => toNfc(file).toLowerCase();

const isDefinition = (file: string): boolean =>
  ENDING.test(file) && (file.includes('/') || file.replace(ENDING, '') === 'world');

function inTheWay(folder: string, files: readonly string[]): StartupError {
  const shown = `${files.slice(0, MOST_SHOWN).join(', ')}${files.length > MOST_SHOWN ? ', …' : ''}`;
  return new StartupError(
    `${folder} has no world file that says whose files these are: ${shown}. Choose another folder, or move them away.`,
  );
}

const MOST_SHOWN = 5;

function filesOf(
  below: string,
  definitions: readonly { readonly name: string }[],
  format: FileFormat,
  kept: FilesByName,
) {
  const taken = new Set([...kept.values()].map((file) => foldedName(basename(file).replace(ENDING, ''))));
  const written = definitions.filter(({ name }) => !kept.has(name));
  return written.map((definition): [string, string] => {
    const name = fileNameOf(definition.name, taken);
    taken.add(name.toLowerCase());
    return [`${below}/${name}.${format}`, textOf(definition, format)];
  });
}

const textOf = (definition: object, format: FileFormat): string =>
  format === 'json' ? `${JSON.stringify(definition, null, 2)}\n` : writeYaml(definition);

/** The files of a world's folder, by their paths in it. */
async function filesIn(folder: string): Promise<string[]> {
  const filesBelow = async (below: string) => {
    const found = await readdir(join(folder, below), { withFileTypes: true }).catch(none);
    return found
      .filter((one) => !one.isDirectory())
      .map(({ name }) => (below === '.' ? name : `${below}/${name}`));
  };
  return (await Promise.all(['.', 'schemas', 'events'].map(filesBelow))).flat();
}

/** @throws Error for a folder that is there and cannot be read */
function none(cause: NodeJS.ErrnoException): [] {
  if (cause.code === 'ENOENT') return [];
  throw cause;
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
