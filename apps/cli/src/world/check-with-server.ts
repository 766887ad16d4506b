import type { DefinitionCheck } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { listAll } from '../operations/references.js';
import { askOrFail, Refusal, send } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { newEvent, withoutFirstVersion } from './change-requests.js';
import type { EventDefinition, SchemaDefinition, StoredWorld } from './definitions.js';
import type { Plan } from './plan-changes.js';
import type { WorldFolder } from './read-folder.js';

interface Checking {
  readonly server: Server;
  readonly folder: WorldFolder;
  readonly stored: StoredWorld | undefined;
  readonly prune: boolean;
}

type Found = DefinitionCheck['warnings'][number];

/** A likely mistake that is allowed. */
export interface CheckedWarning {
  /** With file and line. */
  readonly shown: string;
  /** How the answer to saving it says it again: of a first version, and of another one. */
  readonly said: readonly string[];
}

/** Bytes of events in one request; a body may have 1 MiB by default. */
const EVENT_BYTES = 400_000;
const REQUEST = { method: 'POST', path: '/api/worlds/check' } as const;

/**
 * Has the server check what a plan creates or changes, and stores nothing.
 * @returns the warnings; undefined where the server is too old to check
 * @throws StartupError with all that it would refuse, with file and line
 */
export async function checkWithServer(
  { changes }: Plan,
  checking: Checking,
): Promise<CheckedWarning[] | undefined> {
  const entitySchemas = schemasOf(checking);
  const events = changes.flatMap((change) =>
    change.what === 'create event' || (change.what === 'change event' && change.version !== undefined)
      ? [change.to]
      : [],
  );
  const groups = events.length > 0 ? grouped(events) : [[]];
  const problems = new Set<string>();
  const warnings: CheckedWarning[] = [];
  for (const group of groups) {
    const checked = await ask(checking.server, { entitySchemas, events: group.map(newEvent) });
    if (checked === undefined) return undefined;
    const shown = ({ pointer, message }: Found) =>
      `${fileLineOf(pointer, { folder: checking.folder, entitySchemas, group })}: ${message}`;
    // Those of schemas are found with each group.
    for (const problem of checked.problems) problems.add(shown(problem));
    for (const one of checked.warnings) warnings.push({ shown: shown(one), said: saidOf(one) });
  }
  if (problems.size > 0) throw new StartupError(`The server would refuse:\n${[...problems].join('\n')}`);
  return warnings;
}

/** The schemas that the world will have: those on the server alone stay there, unless they are pruned. */
function schemasOf({ folder, stored, prune }: Checking): SchemaDefinition[] {
  const names = new Set(folder.schemas.map(({ name }) => name));
  const left = prune ? [] : (stored?.schemas ?? []).filter(({ name }) => !names.has(name));
  return [...folder.schemas, ...left];
}

function grouped(events: readonly EventDefinition[]): EventDefinition[][] {
  const groups: EventDefinition[][] = [];
  let left = 0;
  for (const event of events) {
    const bytes = Buffer.byteLength(JSON.stringify(event));
    if (groups.length === 0 || bytes > left) {
      groups.push([]);
      left = EVENT_BYTES;
    }
    groups.at(-1)?.push(event);
    left -= bytes;
  }
  return groups;
}

async function ask(server: Server, body: object): Promise<DefinitionCheck | undefined> {
  const answer = await send(server, { ...REQUEST, body });
  if (answer.status < 300) return answer.data as DefinitionCheck;
  if (answer.code === 'route_not_found') return undefined;
  throw new Refusal(server, REQUEST, answer);
}

interface Sent {
  readonly folder: WorldFolder;
  readonly entitySchemas: readonly SchemaDefinition[];
  readonly group: readonly EventDefinition[];
}

function fileLineOf(pointer: string, { folder, entitySchemas, group }: Sent): string {
  const [, kind = '', at = '', rest = ''] = /^\/(entitySchemas|events)\/(\d+)(.*)$/s.exec(pointer) ?? [];
  if (kind === 'events')
    return folder.lineOf('event', group[Number(at)]?.name ?? '', withoutFirstVersion(rest));
  return folder.lineOf('schema', entitySchemas[Number(at)]?.name ?? '', rest);
}

function saidOf({ pointer, message }: Found): string[] {
  const inEvent = pointer.replace(/^\/events\/\d+/, '');
  return [inEvent, withoutFirstVersion(inEvent)].map((pointed) => `Warning: ${pointed}: ${message}`);
}

interface Binding {
  readonly event: string;
  readonly eventVersion: number;
}

/** Which deployments run a draft that is to change, a sentence for each such event. */
export async function boundDrafts({ changes }: Plan, world: string, server: Server): Promise<string[]> {
  const drafts = changes.flatMap((change) =>
    change.what === 'change event' && change.version?.isNew === false
      ? [{ event: change.name, eventVersion: change.version.number }]
      : [],
  );
  if (drafts.length === 0) return [];
  const users = await usersOf(world, server);
  return drafts.flatMap(({ event, eventVersion }) => {
    const names = users.get(keyOf({ event, eventVersion })) ?? [];
    if (names.length === 0) return [];
    const who = names.map((name) => `"${name}"`).join(', ');
    return [
      `event ${event}: version ${eventVersion} is bound by ${who}, which ${names.length === 1 ? RUNS : RUN}.`,
    ];
  });
}

const RUNS = 'runs it as changed from then on; --new-versions leaves it as it is';
const RUN = 'run it as changed from then on; --new-versions leaves them as they are';

const keyOf = ({ event, eventVersion }: Binding): string => `${eventVersion} ${event}`;

/** The names of the deployments that bind a version. */
async function usersOf(world: string, server: Server): Promise<Map<string, string[]>> {
  const users = new Map<string, string[]>();
  const path = `/worlds/${world}/deployments`;
  for (const { address, name } of await listAll<{ address: string; name: string }>(server, path)) {
    const { data } = await askOrFail(server, 'GET', `${path}/${address}/event-bindings`);
    for (const binding of data as Binding[])
      users.set(keyOf(binding), [...(users.get(keyOf(binding)) ?? []), name]);
  }
  return users;
}
