import { StartupError } from '@orrery/service-kit';
import { type Command, Option } from 'commander';
import { findWorld, ownWorlds, worldNamed } from '../operations/references.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { type ApplyOptions, applyFolder } from './apply-folder.js';
import type { StoredWorld } from './definitions.js';
import { nameInFolder } from './read-folder.js';
import { readStoredWorld } from './read-stored-world.js';
import { type FileFormat, type Written, writeFolder } from './write-folder.js';

interface ExportOptions extends ServerOptions {
  readonly world?: string;
  readonly format: FileFormat;
  readonly prune?: true;
}

const WORLD = '--world <world>';

/** `orrery world export|apply`: the definitions of a world as files. */
export function addWorldCommands(program: Command, context: CommandContext): void {
  const world = program
    .command('world')
    .description('a world as files: its schemas and events in YAML or JSON');
  const exporting = world
    .command('export')
    .description('write the definitions of a world into a folder')
    .argument('<folder>', 'for world.yaml, schemas/ and events/')
    .option(WORLD, 'by its id, address or name; else that of the files, or your only one')
    .addOption(new Option('--format <format>', 'of the files').choices(['yaml', 'json']).default('yaml'))
    .option('--prune', 'remove files of schemas and events that the world does not have, without asking');
  withServerOptions(exporting).action((folder: string, options: ExportOptions) =>
    exportWorld(folder, options, context),
  );
  const applying = world
    .command('apply')
    .description('make a world equal to a folder: show what changes, ask, and do it')
    .argument('<folder>', 'as `export` writes it')
    .option(WORLD, 'by its id, address or name; else the one of yours that is named as in the files')
    .option('--dry-run', 'show what would change and what the server would refuse, and change nothing')
    .option('--yes', 'do not ask')
    .option('--prune', 'delete the schemas and events that the folder does not have')
    .option('--new-versions', 'give changed events a new version, even where the latest one is a draft');
  withServerOptions(applying)
    .option('--json', "print the world's address and the changes as JSON")
    .action((folder: string, options: ApplyOptions) => applyFolder(folder, options, context));
}

async function exportWorld(folder: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const server = await serverOf(options, context);
  const inFolder = await nameInFolder(folder);
  const stored = await exportedWorld(server, folder, inFolder, options);
  const isItsOwn = inFolder !== undefined;
  const mayRemove = (files: readonly string[]) => isRemovalWanted(files, options, context);
  const written = await writeFolder(folder, stored, { format: options.format, isItsOwn, mayRemove });
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  const { world, schemas, events } = stored;
  context.write(
    `${world.name}: ${count(schemas.length, 'schema')} and ${count(events.length, 'event')} in ${folder}`,
  );
  for (const line of linesOf(written)) context.note(line);
}

/** Files that were never applied are their only copy. Where nobody can be asked they stay. */
async function isRemovalWanted(
  files: readonly string[],
  { prune }: ExportOptions,
  { confirm }: CommandContext,
): Promise<boolean> {
  if (prune === true) return true;
  const question = `Remove ${files.join(', ')}, which the world does not have?`;
  return confirm(question).catch((cause: unknown) => {
    if (cause instanceof StartupError) return false;
    throw cause;
  });
}

const linesOf = ({ replaced, unknown, isRemoved, unreadable }: Written): string[] => [
  ...replaced.map((file) => `removed ${file}, whose definition another file holds now`),
  ...unknown.map((file) =>
    isRemoved
      ? `removed ${file}, which the world no longer has`
      : `left ${file}, which the world does not have: \`orrery world apply\` adds it, \`--prune\` removes the file`,
  ),
  ...unreadable.map((file) => `left ${file}, which holds no definition that can be read: mend or remove it`),
];

/** @throws StartupError where the folder holds another world, whose files would be lost */
async function exportedWorld(
  server: Server,
  folder: string,
  inFolder: string | undefined,
  { world }: ExportOptions,
): Promise<StoredWorld> {
  const stored = await readStoredWorld(server, await addressOf(server, world, inFolder));
  if (inFolder === undefined || inFolder === stored.world.name) return stored;
  throw new StartupError(
    `${folder} holds the world "${inFolder}", not "${stored.world.name}": choose another folder, or remove its files.`,
  );
}

async function addressOf(
  server: Server,
  given: string | undefined,
  inFolder: string | undefined,
): Promise<string> {
  if (given !== undefined) return findWorld(server, given);
  return inFolder === undefined ? onlyWorld(server) : worldNamed(await ownWorlds(server), inFolder);
}

async function onlyWorld(server: Server): Promise<string> {
  const [only, ...others] = await ownWorlds(server);
  if (only === undefined) throw new StartupError('You have no world yet.');
  if (others.length === 0) return only.address;
  throw new StartupError(`You have ${others.length + 1} worlds: choose one with --world.`);
}
