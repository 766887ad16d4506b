import { StartupError } from '@orrery/service-kit';
import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.js';
import { findWorld, ownWorlds } from '../operations/references.js';
import { type Server, type ServerOptions, serverOf, withServerOptions } from '../server/find-server.js';
import { applyChanges } from './apply-changes.js';
import { boundDrafts } from './bound-drafts.js';
import { type CheckedWarning, checkWithServer } from './check-with-server.js';
import { type Plan, planChanges } from './plan-changes.js';
import { nameInFolder, readFolder, type WorldFolder } from './read-folder.js';
import { readStoredWorld } from './read-stored-world.js';
import { showPlan } from './show-plan.js';
import type { StoredWorld } from './world-content.js';
import { type FileFormat, writeFolder } from './write-folder.js';

interface ExportOptions extends ServerOptions {
  readonly world?: string;
  readonly format: FileFormat;
}

interface ApplyOptions extends ServerOptions {
  readonly world?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly prune?: true;
  readonly newVersions?: true;
  readonly json?: true;
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
    .addOption(new Option('--format <format>', 'of the files').choices(['yaml', 'json']).default('yaml'));
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
  const stored = await exportedWorld(server, folder, options);
  const removed = await writeFolder(folder, stored, options.format);
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  const { world, schemas, events } = stored;
  context.write(
    `${world.name}: ${count(schemas.length, 'schema')} and ${count(events.length, 'event')} in ${folder}`,
  );
  for (const file of removed) context.note(`removed ${file}, which the world no longer has`);
}

/** @throws StartupError where the folder holds another world, whose files would be lost */
async function exportedWorld(server: Server, folder: string, { world }: ExportOptions): Promise<StoredWorld> {
  const inFolder = await nameInFolder(folder);
  const reference = world ?? inFolder ?? (await onlyWorld(server));
  const stored = await readStoredWorld(server, await findWorld(server, reference));
  if (inFolder === undefined || inFolder === stored.world.name) return stored;
  throw new StartupError(
    `${folder} holds the world "${inFolder}", not "${stored.world.name}": choose another folder, or remove its world file.`,
  );
}

async function onlyWorld(server: Server): Promise<string> {
  const [only, ...others] = await ownWorlds(server);
  if (only === undefined) throw new StartupError('You have no world yet.');
  if (others.length === 0) return only.address;
  throw new StartupError(`You have ${others.length + 1} worlds: choose one with --world.`);
}

async function applyFolder(path: string, options: ApplyOptions, context: CommandContext): Promise<void> {
  const folder = await readFolder(path);
  const server = await serverOf(options, context);
  const address = await appliedWorld(server, folder, options);
  const stored = address === undefined ? undefined : await readStoredWorld(server, address);
  const { prune = false, newVersions = false } = options;
  const plan = planChanges(folder, stored, { prune, newVersions });
  // For programs nothing but the outcome is written.
  const say = options.json === true ? () => undefined : context.write;
  say(introduction(plan, folder, stored));
  const warnings = await checked(plan, { server, folder, stored, prune }, context);
  const isWanted = await isConfirmed(plan, folder, options, context);
  const world = isWanted
    ? await makeChanges(plan, { server, folder, stored, warnings }, context)
    : stored?.address;
  if (isWanted) say(`${folder.world.name} (${world}) is as the files say.`);
  if (options.json === true) context.write(JSON.stringify(outcomeOf(plan, world, isWanted), null, 2));
}

/** Says what is likely to be wrong before anybody is asked. @throws StartupError with what the server would refuse */
async function checked(
  plan: Plan,
  checking: Parameters<typeof checkWithServer>[1],
  { note }: CommandContext,
): Promise<readonly CheckedWarning[]> {
  const { server, stored } = checking;
  if (plan.changes.length === 0) return [];
  const warnings = await checkWithServer(plan, checking);
  if (warnings === undefined)
    note('The server is older than this command: it checks the definitions only when they are applied.');
  for (const { shown } of warnings ?? []) note(`Warning: ${shown}`);
  if (stored !== undefined)
    for (const sentence of await boundDrafts(plan, stored.address, server)) note(sentence);
  return warnings ?? [];
}

/** The world that is meant; undefined: it is created. */
async function appliedWorld(
  server: Server,
  folder: WorldFolder,
  { world }: ApplyOptions,
): Promise<string | undefined> {
  if (world !== undefined) return findWorld(server, world);
  const isThere = (await ownWorlds(server)).some(({ name }) => name === folder.world.name);
  // Of several with this name none is meant, and that is said.
  return isThere ? findWorld(server, folder.world.name) : undefined;
}

function introduction(plan: Plan, { world }: WorldFolder, stored: StoredWorld | undefined): string {
  const shown = showPlan(plan);
  if (plan.changes.length > 0) return shown;
  const nothing = `${world.name} (${stored?.address}) is as the files say: there is nothing to do.`;
  return [shown, nothing].filter((text) => text !== '').join('\n');
}

async function isConfirmed(
  { changes }: Plan,
  { world }: WorldFolder,
  { yes, dryRun }: ApplyOptions,
  { confirm, note }: CommandContext,
): Promise<boolean> {
  if (changes.length === 0 || dryRun === true) return false;
  if (yes === true) return true;
  const many = changes.length === 1 ? 'this change' : `these ${changes.length} changes`;
  const answer = await confirm(`Apply ${many} to ${world.name}?`);
  if (!answer) note('Nothing was changed.');
  return answer;
}

interface Making {
  readonly server: Server;
  readonly folder: WorldFolder;
  readonly stored: StoredWorld | undefined;
  /** They were said with file and line, so they are not said again. */
  readonly warnings: readonly CheckedWarning[];
}

function makeChanges(
  { changes }: Plan,
  { server, folder, stored, warnings }: Making,
  { note }: CommandContext,
): Promise<string> {
  const said = warnings.flatMap((warning) => warning.said);
  return applyChanges(changes, {
    server,
    folder,
    address: stored?.address,
    onDone: (change, messages) => {
      for (const message of messages) {
        const rest = said
          .reduce((text, known) => text.replace(known, ''), message)
          .replace(/There are \d+ more warnings\./, '')
          .trim();
        if (rest !== '') note(`${change.what.split(' ')[1]} ${change.name}: ${rest}`);
      }
    },
  });
}

const outcomeOf = ({ changes, left }: Plan, world: string | undefined, applied: boolean) => ({
  world: world ?? null,
  applied,
  changes: changes.map((change) => ({
    what: change.what,
    name: change.name,
    ...('version' in change && change.version && { version: change.version.number }),
  })),
  left,
});
