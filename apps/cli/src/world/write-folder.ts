import { createHash } from 'node:crypto';
import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { toNfc } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { makeFolder } from '../documents/make-folder.js';
import { replaceText } from '../documents/replace-text.js';
import { writeYaml } from '../documents/yaml-text.js';
import type { WorldContent } from './definitions.js';
import { ENDING, fileNamesIn } from './folder-files.js';
import { saysTheSame } from './plan-changes.js';
import { type Definition, type DefinitionKind, definitionsIn, type FiledDefinition } from './read-folder.js';

export type FileFormat = 'yaml' | 'json';

export interface Writing {
  readonly format: FileFormat;
  /** Whether the folder is known to hold this world; else no file in it is removed or overwritten. */
  readonly isItsOwn: boolean;
  /** Asked before anything is written: may these files be removed, whose definitions the world does not have? */
  readonly mayRemove: (files: readonly string[]) => Promise<boolean>;
}

/** What became of files that were there, by their paths in the folder. */
export interface Written {
  /** Removed, as another file holds their definition now. */
  readonly replaced: readonly string[];
  /** Of definitions that the world does not have, and whether they were removed. */
  readonly unknown: readonly string[];
  readonly isRemoved: boolean;
  /** Left there, since nobody can tell what they are. */
  readonly unreadable: readonly string[];
}

/**
 * Writes a world as files. A file that says the same already stays as it is, with its name, its comments and its order.
 * @throws StartupError before anything is written, naming the files that are in the way
 */
export async function writeFolder(folder: string, content: WorldContent, options: Writing): Promise<Written> {
  const { texts, unknown, respelt, stale, unreadable } = await planFiles(folder, content, options);
  const isRemoved = unknown.length > 0 && (await options.mayRemove(unknown));
  for (const below of ['schemas', 'events']) await makeFolder(join(folder, below), ADVICE);
  await removeFiles(folder, respelt);
  await writeTexts(folder, [...texts]);
  await removeFiles(folder, isRemoved ? [...stale, ...unknown] : stale);
  return { replaced: [...respelt, ...stale], unknown, isRemoved, unreadable };
}

/** @throws StartupError naming the files that are in the way */
async function planFiles(folder: string, content: WorldContent, { format, isItsOwn }: Writing) {
  const found = isItsOwn ? await definitionsIn(folder) : [];
  const kept = keptOf(found, content, format);
  const unknown = unknownTo(content, found);
  const texts = textsOf(content, format, kept, unknown);
  const names = [kept.world, kept.schema, kept.event].flatMap((files) => [...files.values()]);
  const others = (await filesIn(folder)).filter((file) => !unknown.includes(file));
  const { taken, respelt, stale } = sortFiles(others, [...names, ...texts.keys()]);
  if (!isItsOwn && taken.length > 0) throw inTheWay(folder, taken);
  const readable = readableOf(found);
  const isReadable = (file: string) => readable.has(file);
  const unreadable = [...respelt, ...stale].filter((file) => !isReadable(file));
  return { texts, unknown, unreadable, respelt: respelt.filter(isReadable), stale: stale.filter(isReadable) };
}

/** The files of definitions that the world does not have. */
function unknownTo({ schemas, events }: WorldContent, found: readonly FiledDefinition[]): string[] {
  const namesOf = (all: readonly { readonly name: string }[]) => new Set(all.map(({ name }) => name));
  const known = { schema: namesOf(schemas), event: namesOf(events) };
  const isUnknown = ({ kind, definition }: FiledDefinition) =>
    kind !== 'world' && definition !== undefined && !known[kind].has(definition.name);
  return found.filter(isUnknown).map(({ file }) => file);
}

/** Of a world file it is known whose it is. */
function readableOf(found: readonly FiledDefinition[]): ReadonlySet<string> {
  const isReadable = ({ kind, definition }: FiledDefinition) => kind === 'world' || definition !== undefined;
  return new Set(found.filter(isReadable).map(({ file }) => file));
}

/** What to do where a folder takes no files. */
const ADVICE = 'make it writable, or choose another folder.';

/** Files that are written at the same time: each waits for the disk. */
const AT_ONCE = 16;

async function writeTexts(folder: string, texts: readonly (readonly [string, string])[]): Promise<void> {
  for (let at = 0; at < texts.length; at += AT_ONCE)
    await Promise.all(
      texts.slice(at, at + AT_ONCE).map(([file, text]) => writeText(join(folder, file), text)),
    );
}

/** A link stays one: what it leads to is written. */
const writeText = async (path: string, text: string): Promise<void> =>
  replaceText(await realpath(path).catch(() => path), text, ADVICE);

async function removeFiles(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const path = join(folder, file);
    await rm(path).catch((cause: NodeJS.ErrnoException) => {
      throw new StartupError(`${resolve(path)} cannot be removed (${cause.code}): ${ADVICE}`, { cause });
    });
  }
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
  const keptOfKind = (kind: DefinitionKind, stored: readonly Definition[]) => {
    const byName = new Map(stored.map((one) => [one.name, one]));
    const saying = files.flatMap(({ kind: its, file, definition }) => {
      if (its !== kind || definition === undefined || !ending.test(file)) return [];
      const found = byName.get(definition.name);
      return found !== undefined && saysTheSame(definition, found) ? [[definition.name, file] as const] : [];
    });
    // The last of equal keys stays in a map.
    return new Map(saying.reverse());
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

/** The texts of the files that are to be written. What defines something unknown keeps its name. */
function textsOf(
  { world, schemas, events }: WorldContent,
  format: FileFormat,
  kept: Record<DefinitionKind, FilesByName>,
  unknown: readonly string[],
): Map<string, string> {
  const filesOf = (below: string, definitions: readonly { readonly name: string }[], files: FilesByName) => {
    const there = [...files.values(), ...unknown.filter((file) => dirname(file) === below)];
    const taken = new Set(there.map((file) => foldedName(basename(file).replace(ENDING, ''))));
    const written = definitions.filter(({ name }) => !files.has(name));
    return written.map((definition): [string, string] => {
      const name = fileNameOf(definition.name, taken);
      taken.add(name.toLowerCase());
      return [`${below}/${name}.${format}`, textOf(definition, format)];
    });
  };
  return new Map([
    ...(kept.world.has(world.name) ? [] : [[`world.${format}`, textOf(world, format)] as const]),
    ...filesOf('schemas', schemas, kept.schema),
    ...filesOf('events', events, kept.event),
  ]);
}

const textOf = (definition: object, format: FileFormat): string =>
  format === 'json' ? `${JSON.stringify(definition, null, 2)}\n` : writeYaml(definition);

/** The files of a world's folder, by their paths in it. */
async function filesIn(folder: string): Promise<string[]> {
  const filesBelow = async (below: string) => {
    const names = (await fileNamesIn(folder, below)) ?? [];
    return below === '.' ? names : names.map((name) => `${below}/${name}`);
  };
  return (await Promise.all(['.', 'schemas', 'events'].map(filesBelow))).flat();
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
