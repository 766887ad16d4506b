import type { DefinitionCheck } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { listAll, type Named } from '../operations/references.js';
import { ask, askAt } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { newEvent, withoutFirstVersion } from './change-requests.js';
import { type CheckGroup, checkGroups } from './check-groups.js';
import type { StoredWorld, WorldContent } from './definitions.js';
import type { Plan } from './plan-changes.js';
import type { WorldFolder } from './read-folder.js';

/** A folder that is applied to a world. */
export interface Applying {
  readonly server: Server;
  readonly folder: WorldFolder;
  /** Undefined: the first change creates it. */
  readonly stored: StoredWorld | undefined;
  readonly prune: boolean;
}

type Found = DefinitionCheck['warnings'][number];

/** A likely mistake that is allowed, and its line in a file. */
export interface CheckedWarning {
  readonly warning: Found;
  readonly line: string;
}

/**
 * Has the server check what a plan creates or changes, and stores nothing.
 * @throws StartupError with all that it would refuse, with file and line
 */
export async function checkWithServer({ changes }: Plan, applying: Applying): Promise<CheckedWarning[]> {
  const { server, folder } = applying;
  const schemas = changes.flatMap((change) =>
    change.what === 'create schema' || change.what === 'change schema' ? [change.to] : [],
  );
  const events = changes.flatMap((change) =>
    change.what === 'create event' || (change.what === 'change event' && change.version !== undefined)
      ? [change.to]
      : [],
  );
  const known = new Set(afterApplying('events', applying).map(({ name }) => name));
  const problems = new Set<string>();
  const warnings: CheckedWarning[] = [];
  for (const group of checkGroups(schemas, events, afterApplying('schemas', applying))) {
    const body = { entitySchemas: group.entitySchemas, events: group.events.map(newEvent) };
    const { data } = await ask(server, { method: 'POST', path: '/api/worlds/check', body });
    const checked = data as DefinitionCheck;
    const lineOf = ({ pointer }: Found) => fileLineOf(pointer, folder, group);
    // Those of a schema are found with each group that has it.
    for (const problem of checked.problems)
      problems.add(`${lineOf(problem)}: ${problem.message} [${problem.code}]`);
    for (const warning of checked.warnings)
      if (!isElsewhere(warning, group, known)) warnings.push({ warning, line: lineOf(warning) });
  }
  if (problems.size > 0) throw new StartupError(`The server would refuse:\n${[...problems].join('\n')}`);
  return warnings;
}

/** Of the events that a version names a server knows those that are sent with it. */
function isElsewhere({ code, pointer }: Found, { events }: CheckGroup, known: ReadonlySet<string>): boolean {
  const [, at, part, index] =
    /^\/events\/(\d+)\/firstVersion\/(readHistory\/events|followUps)\/(\d+)/.exec(pointer) ?? [];
  if (code !== 'unknown_event' || index === undefined) return false;
  const { readHistory, followUps } = events[Number(at)] ?? {};
  const name =
    part === 'followUps' ? followUps?.[Number(index)]?.event : readHistory?.events?.[Number(index)];
  return name !== undefined && known.has(name);
}

/** What the world will have: that on the server alone stays there, unless it is pruned. */
export function afterApplying<Kind extends 'schemas' | 'events'>(
  kind: Kind,
  { folder, stored, prune }: Applying,
): WorldContent[Kind][number][] {
  const names = new Set(folder[kind].map(({ name }) => name));
  const left = prune ? [] : (stored?.[kind] ?? []).filter(({ name }) => !names.has(name));
  return [...folder[kind], ...left];
}

function fileLineOf(pointer: string, folder: WorldFolder, { entitySchemas, events }: CheckGroup): string {
  const [, kind = '', at = '', rest = ''] = /^\/(entitySchemas|events)\/(\d+)(.*)$/s.exec(pointer) ?? [];
  if (kind === 'events')
    return folder.lineOf('event', events[Number(at)]?.name ?? '', withoutFirstVersion(rest));
  return folder.lineOf('schema', entitySchemas[Number(at)]?.name ?? '', rest);
}

/** Which deployments run a draft that is to change, a sentence for each such event. */
export async function boundDrafts({ changes }: Plan, world: string, server: Server): Promise<string[]> {
  const drafts = changes.flatMap((change) =>
    change.what === 'change event' && change.version?.isNew === false
      ? [{ event: change.name, eventVersion: change.version.number }]
      : [],
  );
  if (drafts.length === 0) return [];
  const bound = await boundVersions(world, server);
  return drafts.flatMap(({ event, eventVersion }) => {
    const isBound = (one: BoundVersion) => one.event === event && one.eventVersion === eventVersion;
    const names = bound.filter(isBound).map(({ deployment }) => deployment);
    if (names.length === 0) return [];
    const who = names.map((name) => `"${name}"`).join(', ');
    return [
      `event ${event}: version ${eventVersion} is bound by ${who}, which ${names.length === 1 ? RUNS : RUN}.`,
    ];
  });
}

const RUNS = 'runs it as changed from then on; --new-versions leaves it as it is';
const RUN = 'run it as changed from then on; --new-versions leaves them as they are';

interface BoundVersion {
  readonly event: string;
  readonly eventVersion: number;
  /** The name of the one that binds it. */
  readonly deployment: string;
}

async function boundVersions(world: string, server: Server): Promise<BoundVersion[]> {
  const bound: BoundVersion[] = [];
  const path = `/worlds/${world}/deployments`;
  for (const { address, name: deployment } of await listAll<Named>(server, path)) {
    const { data } = await askAt(server, 'GET', `${path}/${address}/event-bindings`);
    bound.push(...(data as BoundVersion[]).map((binding) => ({ ...binding, deployment })));
  }
  return bound;
}
