import { findWorld, ownWorlds } from '../operations/references.js';
import { type Server, type ServerOptions, serverOf } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { applyChanges } from './apply-changes.js';
import { withoutFirstVersion } from './change-requests.js';
import { boundDrafts, type CheckedWarning, checkWithServer } from './check-with-server.js';
import type { StoredWorld } from './definitions.js';
import { orphanedNames } from './orphaned-names.js';
import { type Change, type Plan, planChanges, showPlan } from './plan-changes.js';
import { type DefinitionKind, readFolder, type WorldFolder } from './read-folder.js';
import { readStoredWorld } from './read-stored-world.js';

export interface ApplyOptions extends ServerOptions {
  readonly world?: string;
  readonly yes?: true;
  readonly dryRun?: true;
  readonly prune?: true;
  readonly newVersions?: true;
  readonly json?: true;
}

/** Makes a world equal to a folder: shows what changes, has the server check it, asks, and does it. */
export async function applyFolder(
  path: string,
  options: ApplyOptions,
  context: CommandContext,
): Promise<void> {
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
  for (const sentence of orphanedNames(plan, eventsAfter(checking))) note(`Warning: ${sentence}`);
  if (stored !== undefined)
    for (const sentence of await boundDrafts(plan, stored.address, server)) note(sentence);
  return warnings ?? [];
}

/** The events that the world will have: those on the server alone stay there, unless they are pruned. */
function eventsAfter({ folder, stored, prune }: Parameters<typeof checkWithServer>[1]) {
  const names = new Set(folder.events.map(({ name }) => name));
  const left = prune ? [] : (stored?.events ?? []).filter(({ name }) => !names.has(name));
  return [...folder.events, ...left];
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
        if (rest !== '')
          note(`${change.what.split(' ')[1]} ${change.name}: ${inFiles(rest, change, folder)}`);
      }
    },
  });
}

/** What saving alone can tell, such as the deployments of a draft that has become dearer, with the line in its file. */
const inFiles = (message: string, { what, name }: Change, folder: WorldFolder): string =>
  message.replaceAll(/Warning: (\/[^ ]+): /g, (_, pointer: string) => {
    const kind = what.split(' ')[1] as DefinitionKind;
    return `Warning: ${folder.lineOf(kind, name, withoutFirstVersion(pointer))}: `;
  });

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
