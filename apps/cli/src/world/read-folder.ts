import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createEntitySchemaBody, createWorldBody, problemsOf, toNfc, versionBody } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { z } from 'zod';
import { readGivenFile } from '../documents/read-document.js';
import { type ReadYaml, readYaml } from '../documents/yaml-text.js';
import {
  type EventDefinition,
  type SchemaDefinition,
  toEventDefinition,
  toSchemaDefinition,
  toWorldDefinition,
  type WorldContent,
  type WorldDefinition,
} from './definitions.js';
import { ENDING, fileNamesIn } from './folder-files.js';

/** A world as a folder holds it, and where each of its definitions stands. */
export interface WorldFolder extends WorldContent {
  /** `schemas/horse.yaml:7`, for a pointer into the definition of a schema or an event, or into the world. */
  lineOf(kind: DefinitionKind, name: string, pointer: string): string;
}
export type DefinitionKind = 'world' | 'schema' | 'event';

interface DefinitionFile extends ReadYaml {
  readonly path: string;
}

const eventFile = versionBody.extend({
  name: createWorldBody.shape.name,
  description: createWorldBody.shape.description,
});

/** Reads and checks all files before anything is sent. @throws StartupError naming all that is wrong */
export async function readFolder(folder: string): Promise<WorldFolder> {
  const [worldFile, ...more] = await readFiles(folder, '.', isWorldFile);
  if (worldFile === undefined)
    throw new StartupError(`${folder} holds no world: there is no world.yaml in it.`);
  if (more.length > 0)
    throw new StartupError(`${folder} holds two worlds: ${worldFile.path}, ${more[0]?.path}.`);
  const problems: string[] = [];
  const world = checked(worldFile, createWorldBody, problems);
  const schemas = checkedAll(await readFiles(folder, 'schemas'), createEntitySchemaBody, problems);
  const events = checkedAll(await readFiles(folder, 'events'), eventFile, problems);
  if (world === undefined || problems.length > 0) throw new StartupError(problems.join('\n'));
  const files = { world: new Map([[world.name, worldFile]]), schema: schemas.files, event: events.files };
  return {
    world: toWorldDefinition(world),
    schemas: schemas.values.map(toSchemaDefinition),
    events: events.values.map((event) => toEventDefinition(event, event)),
    lineOf: (kind, name, pointer) => {
      const file = files[kind].get(name) ?? worldFile;
      return `${file.path}:${file.lineOf(stepsOf(pointer))}`;
    },
  };
}

/**
 * The name of the world that a folder holds; undefined where it has no world file, or is not there.
 * @throws StartupError for a world file that does not tell whose files these are
 */
export async function nameInFolder(folder: string): Promise<string | undefined> {
  const isThere = await access(folder).then(
    () => true,
    () => false,
  );
  const names = (isThere ? await readFiles(folder, '.', isWorldFile) : []).map(({ path, value }) => {
    const name = (value as { name?: unknown } | null)?.name;
    if (typeof name === 'string') return toNfc(name);
    throw new StartupError(`${path} does not name its world: mend or remove it.`);
  });
  if (new Set(names).size > 1) throw new StartupError(`${folder} holds two worlds: ${names.join(', ')}.`);
  return names[0];
}

const isWorldFile = (file: string): boolean => file.replace(ENDING, '') === 'world';

export type Definition = WorldDefinition | SchemaDefinition | EventDefinition;

/** A file of a folder that is meant to hold a definition. */
export interface FiledDefinition {
  readonly kind: DefinitionKind;
  /** In the folder, as in `schemas/horse.yaml`. */
  readonly file: string;
  /** Undefined where the file cannot be read, or holds none. */
  readonly definition: Definition | undefined;
}

/** The files of definitions in a folder, and what those hold that can be read. */
export async function definitionsIn(folder: string): Promise<FiledDefinition[]> {
  const readBelow = async <T extends z.ZodType>(
    { kind, below, schema }: { kind: DefinitionKind; below: string; schema: T },
    toDefinition: (body: z.output<T>) => Definition,
  ) => {
    const names = await definitionNames(folder, below, kind === 'world' ? isWorldFile : undefined);
    const read = async (path: string) =>
      toDefinition(schema.parse(readYaml(await readGivenFile(path, READING), path).value));
    return (names ?? []).map(async (name): Promise<FiledDefinition> => {
      const definition = await read(join(folder, below, name)).catch(() => undefined);
      return { kind, file: kind === 'world' ? name : `${below}/${name}`, definition };
    });
  };
  const found = await Promise.all([
    readBelow({ kind: 'world', below: '.', schema: createWorldBody }, toWorldDefinition),
    readBelow({ kind: 'schema', below: 'schemas', schema: createEntitySchemaBody }, toSchemaDefinition),
    readBelow({ kind: 'event', below: 'events', schema: eventFile }, (event) =>
      toEventDefinition(event, event),
    ),
  ]);
  return Promise.all(found.flat());
}

/** What to do where a file cannot be read. */
const READING = 'mend it, or remove it from the folder.';

async function readFiles(
  folder: string,
  below: string,
  isMeant?: (file: string) => boolean,
): Promise<DefinitionFile[]> {
  const names = await definitionNames(folder, below, isMeant);
  // A world may have no events yet.
  if (names === undefined && below === '.')
    throw new StartupError(
      `There is no folder ${resolve(folder)}: \`orrery world export\` writes one, docs/cli.md shows its files.`,
    );
  return Promise.all(
    (names ?? []).map(async (file) => {
      const path = join(folder, below, file);
      return { path, ...readYaml(await readGivenFile(path, READING), path) };
    }),
  );
}

/** The names of files that are meant to hold definitions; undefined where there is no such folder. */
async function definitionNames(
  folder: string,
  below: string,
  isMeant: (file: string) => boolean = () => true,
): Promise<string[] | undefined> {
  const names = await fileNamesIn(folder, below);
  return names?.filter((name) => ENDING.test(name) && isMeant(name));
}

/** Adds what is wrong with a file to the problems; then there is no value. */
function checked<T extends z.ZodType>(
  { path, value, lineOf }: DefinitionFile,
  schema: T,
  problems: string[],
): z.output<T> | undefined {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const found = problemsOf(parsed.error, schema).map(
    ({ pointer, message }) => `${path}:${lineOf(stepsOf(pointer))}: ${pointer}${pointer && ': '}${message}`,
  );
  problems.push(...found);
  return undefined;
}

function checkedAll<T extends z.ZodType<{ name: string }>>(
  files: readonly DefinitionFile[],
  schema: T,
  problems: string[],
) {
  const byName = new Map<string, DefinitionFile>();
  const values = files.flatMap((file) => {
    const value = checked(file, schema, problems);
    if (value === undefined) return [];
    const other = byName.get(value.name);
    if (other !== undefined) problems.push(`${file.path}: "${value.name}" is in ${other.path} already.`);
    byName.set(value.name, file);
    return [value];
  });
  return { values, files: byName };
}

/** RFC 6901. */
const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
