import { StartupError } from '@orrery/service-kit';
import { findWorld, ownWorlds, worldNamed } from '../operations/references.js';
import { ask, filledPath, type ServerAnswer, warningText } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf } from '../server/find-server.js';
import { type Problem, Refusal } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import { type ChangeRequest, requestsOf, withoutFirstVersion } from './change-requests.js';
import {
  type Applying,
  afterApplying,
  boundDrafts,
  type CheckedWarning,
  checkWithServer,
} from './check-with-server.js';
import type { StoredWorld } from './definitions.js';
import { orphanedNames } from './orphaned-names.js';
import { type Change, type Plan, planChanges, showPlan } from './plan-changes.js';
import { type DefinitionKind, readFolder, type WorldFolder } from './read-folder.js';
import { readStoredWorld } from './read-stored-world.js';
import { unfitInstances } from './unfit-instances.js';

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
  const applying = { server, folder, stored, prune };
  const warnings = await checked(plan, applying, context);
  const isWanted = await isConfirmed(plan, folder, options, context);
  const made = isWanted ? await makeChanges(plan, applying, warnings, context) : undefined;
  if (made !== undefined) say(`${folder.world.name} (${made.world}) is as the files say.`);
  const outcome = outcomeOf(plan, made?.world ?? stored?.address, made);
  if (options.json === true) context.write(JSON.stringify(outcome, null, 2));
}

/** Says what is likely to be wrong before anybody is asked. @throws StartupError with what the server would refuse */
async function checked(
  plan: Plan,
  applying: Applying,
  { note }: CommandContext,
): Promise<readonly CheckedWarning[]> {
  const { server, stored } = applying;
  if (plan.changes.length === 0) return [];
  const warnings = await checkWithServer(plan, applying);
  for (const { warning, line } of warnings) note(warningText(warning, line));
  for (const sentence of orphanedNames(plan, afterApplying('events', applying))) note(`Warning: ${sentence}`);
  if (stored !== undefined)
    for (const sentence of [
      ...(await boundDrafts(plan, stored.address, server)),
      ...(await unfitInstances(plan, stored.address, server)),
    ])
      note(sentence);
  return warnings;
}

/** The world that is meant; undefined: it is created. */
async function appliedWorld(
  server: Server,
  folder: WorldFolder,
  { world }: ApplyOptions,
): Promise<string | undefined> {
  if (world !== undefined) return findWorld(server, world);
  const own = await ownWorlds(server);
  const isThere = own.some(({ name }) => name === folder.world.name);
  // Of several with this name none is meant, and that is said.
  return isThere ? worldNamed(own, folder.world.name) : undefined;
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

/** What the server has answered to the changes. */
interface Made {
  readonly world: string;
  /** The numbers of new versions, by the names of their events. */
  readonly versions: ReadonlyMap<string, number>;
}

/**
 * Makes changes in their order. What was warned of is not said again.
 * @throws StartupError at the first one that the server refuses: those before it are made, and applying again goes on there
 */
async function makeChanges(
  { changes }: Plan,
  applying: Applying,
  warnings: readonly CheckedWarning[],
  { note }: CommandContext,
): Promise<Made> {
  const told = new Set(warnings.map(({ warning, line }) => warningText(warning, line)));
  const versions = new Map<string, number>();
  let world = applying.stored?.address;
  for (const [done, change] of changes.entries()) {
    for (const [part, request] of requestsOf(change).entries()) {
      const isFirst = done === 0 && part === 0;
      const before = doneBefore(done, changes.length, part);
      const answer = await sendPart(applying, world, { change, request, isFirst, before });
      world ??= (answer.data as { address: string }).address;
      if (request.makesVersion) versions.set(change.name, (answer.data as { version: number }).version);
      if (answer.message !== undefined) note(`${kindOf(change)} ${change.name}: ${answer.message}`);
      for (const text of warningsOf(answer, change, applying.folder)) if (!told.has(text)) note(text);
    }
  }
  return { world: world ?? '', versions };
}

interface ChangePart {
  readonly change: Change;
  readonly request: ChangeRequest;
  readonly isFirst: boolean;
  /** What was made before it, for people. */
  readonly before: string;
}

/** @throws StartupError for a refusal, also where what it replaces is no longer what the plan was made of */
async function sendPart(
  { server, folder, stored }: Applying,
  world: string | undefined,
  { change, request, isFirst, before }: ChangePart,
): Promise<ServerAnswer> {
  const path = world === undefined ? '/api/worlds' : `/api/worlds/{worldAddress}${request.path}`;
  const params = { ...request.params, ...(world !== undefined && { worldAddress: world }) };
  const { method, body } = request;
  const tag = method === 'PUT' ? stored?.tags.get(filledPath(request)) : undefined;
  const headers = tag === undefined ? {} : { 'if-match': `"${tag}"` };
  return ask(server, { method, path, params, headers, body }).catch((cause: Error) => {
    if (!(cause instanceof Refusal))
      throw new StartupError(`${cause.message}\n${before}: apply again, which goes on here.`, { cause });
    const { problem } = cause;
    const asked = { method, path: filledPath({ path, params }) };
    const { message } = new Refusal(server, asked, inFile(problem, change, request, folder));
    throw new StartupError(`${message}\n${afterRefusal(problem, { isFirst, before })}`, { cause });
  });
}

function afterRefusal(
  { status }: Problem,
  { isFirst, before }: Pick<ChangePart, 'isFirst' | 'before'>,
): string {
  if (status === 412)
    return `${isFirst ? 'Nothing was changed' : before}: apply again, which shows what differs by now.`;
  return isFirst ? 'Nothing was changed.' : `${before}: mend this one and apply again, which goes on here.`;
}

const kindOf = ({ what }: Change): DefinitionKind => what.split(' ')[1] as DefinitionKind;

/** A refusal whose pointers are lines of files. */
function inFile(
  problem: Problem,
  change: Change,
  { inFile: translate = (pointer) => pointer }: ChangeRequest,
  folder: WorldFolder,
): Problem {
  const placed = (problem.errors ?? []).map((one) => {
    const line = folder.lineOf(kindOf(change), change.name, translate(one.pointer));
    return { ...one, pointer: `${line}: ${one.pointer}` };
  });
  // The sentence names the first problem by its pointer into the body.
  return placed.length === 0
    ? problem
    : { ...problem, error: 'The files say what the server refuses.', errors: placed };
}

/** A change may take several requests. */
const doneBefore = (done: number, of: number, part: number): string =>
  `${done} of ${of} changes${part > 0 ? ', and a part of this one,' : ''} were made before`;

/**
 * What saving warns of, with the lines in the files. An event that is not there yet may follow: the check of all definitions
 * has told which does not.
 */
const warningsOf = ({ warnings = [] }: ServerAnswer, change: Change, folder: WorldFolder): string[] =>
  warnings
    .filter(({ code }) => code !== 'unknown_event')
    .map((warning) => {
      const pointer = withoutFirstVersion(warning.pointer);
      return warningText(warning, folder.lineOf(kindOf(change), change.name, pointer));
    });

const outcomeOf = ({ changes, left }: Plan, world: string | undefined, made: Made | undefined) => ({
  world: world ?? null,
  applied: made !== undefined,
  changes: changes.map((change) => {
    const version = versionOf(change, made);
    return { what: change.what, name: change.name, ...(version !== undefined && { version }) };
  }),
  left,
});

/** The number of a new version is not known before it is there. */
function versionOf(change: Change, made: Made | undefined): number | undefined {
  if (change.what !== 'change event' || change.version === undefined) return undefined;
  return change.version.isNew ? made?.versions.get(change.name) : change.version.number;
}
