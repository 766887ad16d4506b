import { isDeepStrictEqual } from 'node:util';
import { structuredPatch } from 'diff';
import { writeYaml } from '../documents/yaml-text.js';
import type {
  EventDefinition,
  LatestVersion,
  SchemaDefinition,
  StoredWorld,
  WorldContent,
  WorldDefinition,
} from './definitions.js';

/** One thing that applying a folder does. `from` and `to` are definitions, as files have them. */
export type Change =
  | { readonly what: 'create world'; readonly name: string; readonly to: WorldDefinition }
  | (Pair<WorldDefinition> & { readonly what: 'change world' })
  | { readonly what: 'create schema'; readonly name: string; readonly to: SchemaDefinition }
  | SchemaChange
  | { readonly what: 'create event'; readonly name: string; readonly to: EventDefinition }
  | EventChange
  | { readonly what: 'delete event' | 'delete schema'; readonly name: string };

interface Pair<T> {
  readonly name: string;
  readonly from: T;
  readonly to: T;
}

export interface SchemaChange extends Pair<SchemaDefinition> {
  readonly what: 'change schema';
}

export interface EventChange extends Pair<EventDefinition> {
  readonly what: 'change event';
  /** Which version gets the definition. Undefined: the version stays, only the event itself changes. */
  readonly version?: VersionChange;
}

/** A draft changes in place, or there is a new version: the server gives its number, and uses none again. */
export type VersionChange =
  | { readonly isNew: false; readonly number: number }
  | {
      readonly isNew: true;
      /** Why it is a new one. */
      readonly because?: string;
    };

export interface Plan {
  readonly changes: readonly Change[];
  /** What is on the server alone, and stays there. */
  readonly left: readonly string[];
  /** Events whose locked version keeps an older form of a schema that changes. */
  readonly keepsOldSchemas: readonly string[];
}

export interface PlanOptions {
  /** What is on the server alone is deleted. */
  readonly prune: boolean;
  /** A changed event gets a new version, even where its latest is a draft. */
  readonly newVersions: boolean;
}

/** What makes a stored world equal to a folder's: nothing where it is equal already. */
export function planChanges(
  folder: WorldContent,
  stored: StoredWorld | undefined,
  options: PlanOptions,
): Plan {
  const schemas = changesOf(folder.schemas, stored?.schemas ?? []);
  const events = changesOf(folder.events, stored?.events ?? []);
  const changedSchemas = new Set(schemas.changed.map(({ to }) => to.name));
  const changes: Change[] = [
    ...worldChanges(folder, stored),
    ...schemas.created.map((to): Change => ({ what: 'create schema', name: to.name, to })),
    ...schemas.changed.map((pair): Change => ({ what: 'change schema', name: pair.to.name, ...pair })),
    ...events.created.map((to): Change => ({ what: 'create event', name: to.name, to })),
    ...events.changed.map((pair) => eventChange(pair, stored?.latest.get(pair.to.name), options)),
  ];
  const gone = [
    ...events.gone.map((name): Change => ({ what: 'delete event', name })),
    ...schemas.gone.map((name): Change => ({ what: 'delete schema', name })),
  ];
  const eventsChanged = new Set(events.changed.map(({ to }) => to.name));
  return {
    changes: options.prune ? [...changes, ...gone] : changes,
    left: options.prune ? [] : gone.map(({ what, name }) => `${what.replace('delete ', '')} ${name}`),
    keepsOldSchemas: (stored?.events ?? [])
      .filter(({ name }) => stored?.latest.get(name)?.isLocked === true && !eventsChanged.has(name))
      .filter((event) => runsWith(event, changedSchemas))
      .map(({ name }) => name),
  };
}

function worldChanges({ world: to }: WorldContent, stored: StoredWorld | undefined): Change[] {
  if (stored === undefined) return [{ what: 'create world', name: to.name, to }];
  const from = stored.world;
  return saysTheSame(to, from) ? [] : [{ what: 'change world', name: to.name, from, to }];
}

function changesOf<T extends SchemaDefinition | EventDefinition>(wanted: readonly T[], stored: readonly T[]) {
  const before = new Map(stored.map((one) => [one.name, one]));
  const names = new Set(wanted.map(({ name }) => name));
  return {
    created: wanted.filter(({ name }) => !before.has(name)),
    changed: wanted.flatMap((to) => {
      const found = before.get(to.name);
      if (found === undefined || saysTheSame(to, found)) return [];
      return [{ from: inOrderOf(to, found), to }];
    }),
    gone: stored.map(({ name }) => name).filter((name) => !names.has(name)),
  };
}

/** Whether a definition in a file says what is stored: applying it changes nothing. */
export const saysTheSame = <T extends WorldDefinition | SchemaDefinition | EventDefinition>(
  wanted: T,
  stored: T,
): boolean => isDeepStrictEqual(inOrderOf(wanted, stored), wanted);

/** The order of attributes is that of their creation and cannot be changed, so it is no difference. */
function inOrderOf<T extends WorldDefinition | SchemaDefinition | EventDefinition>(wanted: T, stored: T): T {
  if (!('attributes' in stored) || !('attributes' in wanted)) return stored;
  const positions = new Map((wanted.attributes ?? []).map(({ name }, at) => [name, at]));
  const positionOf = ({ name }: { readonly name: string }) => positions.get(name) ?? positions.size;
  return {
    ...stored,
    attributes: [...(stored.attributes ?? [])].sort((a, b) => positionOf(a) - positionOf(b)),
  };
}

function eventChange(
  { from, to }: { readonly from: EventDefinition; readonly to: EventDefinition },
  latest: LatestVersion | undefined,
  { newVersions }: PlanOptions,
): Change {
  const pair = { what: 'change event', name: to.name, from, to } as const;
  const ofVersion = ({ description: _, ...version }: EventDefinition) => version;
  if (latest !== undefined && isDeepStrictEqual(ofVersion(from), ofVersion(to))) return pair;
  return { ...pair, version: versionChange(latest, newVersions) };
}

function versionChange(latest: LatestVersion | undefined, newVersions: boolean): VersionChange {
  if (latest === undefined) return { isNew: true, because: 'it has none' };
  if (latest.isLocked) return { isNew: true, because: `version ${latest.version} is locked` };
  return newVersions ? { isNew: true } : { number: latest.version, isNew: false };
}

/** Without a map of changes a version runs with all schemas (docs/catalog.md). */
export const runsWith = (
  { readEntities, stateChanges }: EventDefinition,
  schemas: ReadonlySet<string>,
): boolean =>
  schemas.size > 0 &&
  (!stateChanges ||
    Object.keys(stateChanges).some((name) => schemas.has(name)) ||
    (readEntities ?? []).some(({ schema }) => schemas.has(schema)));

/** Unchanged lines that are shown around a change. */
const CONTEXT = 2;

/** A plan for people: what is created, changed (with the lines that differ) and deleted, and what stays as it is. */
export function showPlan({ changes, left, keepsOldSchemas }: Plan): string {
  const lines = changes.flatMap((change) => [titleOf(change), ...detailsOf(change)]);
  if (left.length > 0) lines.push(`Only on the server, and left there without --prune: ${left.join(', ')}.`);
  if (keepsOldSchemas.length > 0)
    lines.push(
      `Locked versions keep the schemas of their day; a new version takes the changed ones up: ${keepsOldSchemas.join(', ')}.`,
    );
  return lines.join('\n');
}

const SIGNS: Readonly<Record<string, string>> = { create: '+', change: '~', delete: '-' };

export function titleOf(change: Change): string {
  const [verb = '', kind = ''] = change.what.split(' ');
  const title = `${SIGNS[verb]} ${kind} ${change.name}`;
  if (change.what !== 'change event' || change.version === undefined) return title;
  const { version } = change;
  if (!version.isNew) return `${title}: version ${version.number}, which is a draft, changes in place`;
  return `${title}: a new version${version.because === undefined ? '' : ` (${version.because})`}`;
}

function detailsOf(change: Change): string[] {
  if (!('from' in change)) return [];
  const [before, after] = [writeYaml(change.from), writeYaml(change.to)];
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  return hunks.flatMap(({ lines }, at) => [
    ...(at > 0 ? ['    …'] : []),
    ...lines.map((line) => `    ${line}`.trimEnd()),
  ]);
}
