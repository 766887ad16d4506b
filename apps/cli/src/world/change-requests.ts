import { isDeepStrictEqual } from 'node:util';
import type { HttpBinding } from '@orrery/contracts';
import { type AttributeDefinition, type EventDefinition, VERSION_MEMBERS } from './definitions.js';
import type { Change, EventChange, SchemaChange } from './plan-changes.js';

/** A path below a world's own, as openapi.json writes it, with its parameters. */
export interface Place {
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
}

/** One request of a change. */
export interface ChangeRequest extends Place {
  readonly method: HttpBinding['method'];
  readonly body?: unknown;
  /** Where a pointer into the body leads in the definition's file. */
  readonly inFile?: (pointer: string) => string;
  /** Whether it makes a new version of an event that is there, whose number the server gives. */
  readonly makesVersion?: true;
}

/** The requests of a change, in their order. The one that creates a world stands alone. */
export function requestsOf(change: Change): ChangeRequest[] {
  switch (change.what) {
    case 'create world':
      return [{ method: 'POST', path: '', body: change.to }];
    case 'change world':
      return [{ method: 'PUT', path: '', body: { ...NO_WORLD, ...change.to } }];
    case 'create schema':
      return [{ method: 'POST', path: '/entity-schemas', body: change.to }];
    case 'change schema':
      return schemaRequests(change);
    case 'create event':
      return [{ method: 'POST', path: '/events', body: newEvent(change.to), inFile: withoutFirstVersion }];
    case 'change event':
      return eventRequests(change);
    case 'delete schema':
      return [{ method: 'DELETE', ...schemaPlace(change.name) }];
    case 'delete event':
      return [{ method: 'DELETE', ...eventPlace(change.name) }];
  }
}

/** The places of what a PUT replaces. */
export const schemaPlace = (schemaName: string) => ({
  path: '/entity-schemas/{schemaName}',
  params: { schemaName },
});
export const attributePlace = (schemaName: string, name: string) => ({
  path: '/entity-schemas/{schemaName}/attributes/{name}',
  params: { schemaName, name },
});
export const eventPlace = (eventName: string) => ({ path: '/events/{eventName}', params: { eventName } });
export const versionPlace = (eventName: string, version: number) => ({
  path: '/events/{eventName}/event-versions/{version}',
  params: { eventName, version: String(version) },
});

/** A collection in what has its place there. */
const below = (place: Place, collection: string): Place => ({
  ...place,
  path: `${place.path}/${collection}`,
});

/** What an absent member of a file means in an update, where the API lets absent members stay. */
const NO_WORLD = { description: null, domainTags: [], promptSeed: null };
const NO_VERSION = Object.fromEntries(VERSION_MEMBERS.map((name) => [name, null]));
const NO_ATTRIBUTE = { constraints: null, defaultValue: null };

function schemaRequests({ name, from, to }: SchemaChange): ChangeRequest[] {
  const place = schemaPlace(name);
  const before = new Map((from.attributes ?? []).map((attribute) => [attribute.name, attribute]));
  const wanted = to.attributes ?? [];
  const requests: ChangeRequest[] = [];
  if ((from.description ?? null) !== (to.description ?? null))
    requests.push({ method: 'PUT', ...place, body: { description: to.description ?? null } });
  const gone = [...before.keys()].filter((one) => !wanted.some((attribute) => attribute.name === one));
  for (const one of gone) requests.push({ method: 'DELETE', ...attributePlace(name, one) });
  const losesIndex = ({ name: one, indexed }: AttributeDefinition) =>
    before.get(one)?.indexed === true && indexed !== true;
  const numbered = wanted.map((attribute, at) => ({ attribute, at }));
  // A schema is within its bounds after each request: what makes room comes first.
  const inOrder = [
    ...numbered.filter(({ attribute }) => losesIndex(attribute)),
    ...numbered.filter(({ attribute }) => !losesIndex(attribute)),
  ];
  for (const { attribute, at } of inOrder) {
    const request = attributeRequest(attribute, before.get(attribute.name), name);
    if (request !== undefined)
      requests.push({ ...request, inFile: (pointer) => `/attributes/${at}${pointer}` });
  }
  return requests;
}

function attributeRequest(
  attribute: AttributeDefinition,
  before: AttributeDefinition | undefined,
  schema: string,
): ChangeRequest | undefined {
  if (before === undefined)
    return { method: 'POST', ...below(schemaPlace(schema), 'attributes'), body: attribute };
  if (isDeepStrictEqual(before, attribute)) return undefined;
  const place = attributePlace(schema, attribute.name);
  const unindexed = before.indexed === true && { indexed: false };
  return { method: 'PUT', ...place, body: { ...NO_ATTRIBUTE, ...unindexed, ...attribute } };
}

/** The body that creates an event with a definition as its first version. */
export function newEvent({ name, description, ...firstVersion }: EventDefinition) {
  return { name, ...(description !== undefined && { description }), firstVersion };
}

/** A pointer into that body as one into the definition. */
export const withoutFirstVersion = (pointer: string): string => pointer.replace(/^\/firstVersion/, '');

function eventRequests({ name, from, to, version }: EventChange): ChangeRequest[] {
  const place = eventPlace(name);
  const { name: _, description, ...definition } = to;
  const requests: ChangeRequest[] = [];
  if ((from.description ?? null) !== (description ?? null))
    requests.push({ method: 'PUT', ...place, body: { description: description ?? null } });
  if (version?.isNew) {
    const versions = below(place, 'event-versions');
    requests.push({ method: 'POST', ...versions, body: definition, makesVersion: true });
  }
  if (version?.isNew === false) {
    const body = { ...NO_VERSION, ...replacing(definition) };
    requests.push({ method: 'PUT', ...versionPlace(name, version.number), body });
  }
  return requests;
}

/** An update merges the two settings, so what they are without is null in them. */
function replacing({ mutationSettings, executionSettings, ...version }: Omit<EventDefinition, 'name'>) {
  return {
    ...version,
    ...(mutationSettings && { mutationSettings: { template: null, ...mutationSettings } }),
    ...(executionSettings && {
      executionSettings: {
        ...{ priceUsd: null, payerMayCall: null, randomness: null, cron: null },
        ...executionSettings,
      },
    }),
  };
}
