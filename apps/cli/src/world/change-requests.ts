import { isDeepStrictEqual } from 'node:util';
import type { HttpBinding } from '@orrery/contracts';
import { type AttributeDefinition, type EventDefinition, VERSION_MEMBERS } from './definitions.js';
import type { Change, EventChange, SchemaChange } from './plan-changes.js';

/** One request of a change. */
export interface ChangeRequest {
  readonly method: HttpBinding['method'];
  /** Below the world's own path. */
  readonly path: string;
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
      return [{ method: 'DELETE', path: schemaPath(change.name) }];
    case 'delete event':
      return [{ method: 'DELETE', path: eventPath(change.name) }];
  }
}

const pathOf = (collection: string, name: string): string => `/${collection}/${encodeURIComponent(name)}`;

/** The paths of what a PUT replaces. */
export const schemaPath = (name: string): string => pathOf('entity-schemas', name);
export const attributePath = (schema: string, name: string): string =>
  `${schemaPath(schema)}${pathOf('attributes', name)}`;
export const eventPath = (name: string): string => pathOf('events', name);
export const versionPath = (event: string, number: number): string =>
  `${eventPath(event)}/event-versions/${number}`;

/** What an absent member of a file means in an update, where the API lets absent members stay. */
const NO_WORLD = { description: null, domainTags: [], promptSeed: null };
const NO_VERSION = Object.fromEntries(VERSION_MEMBERS.map((name) => [name, null]));
const NO_ATTRIBUTE = { constraints: null, defaultValue: null };

function schemaRequests({ name, from, to }: SchemaChange): ChangeRequest[] {
  const path = schemaPath(name);
  const before = new Map((from.attributes ?? []).map((attribute) => [attribute.name, attribute]));
  const wanted = to.attributes ?? [];
  const requests: ChangeRequest[] = [];
  if ((from.description ?? null) !== (to.description ?? null))
    requests.push({ method: 'PUT', path, body: { description: to.description ?? null } });
  const gone = [...before.keys()].filter((one) => !wanted.some((attribute) => attribute.name === one));
  for (const one of gone) requests.push({ method: 'DELETE', path: attributePath(name, one) });
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
    return { method: 'POST', path: `${schemaPath(schema)}/attributes`, body: attribute };
  if (isDeepStrictEqual(before, attribute)) return undefined;
  const path = attributePath(schema, attribute.name);
  const unindexed = before.indexed === true && { indexed: false };
  return { method: 'PUT', path, body: { ...NO_ATTRIBUTE, ...unindexed, ...attribute } };
}

/** The body that creates an event with a definition as its first version. */
export function newEvent({ name, description, ...firstVersion }: EventDefinition) {
  return { name, ...(description !== undefined && { description }), firstVersion };
}

/** A pointer into that body as one into the definition. */
export const withoutFirstVersion = (pointer: string): string => pointer.replace(/^\/firstVersion/, '');

function eventRequests({ name, from, to, version }: EventChange): ChangeRequest[] {
  const path = eventPath(name);
  const { name: _, description, ...definition } = to;
  const requests: ChangeRequest[] = [];
  if ((from.description ?? null) !== (description ?? null))
    requests.push({ method: 'PUT', path, body: { description: description ?? null } });
  if (version?.isNew) {
    const newVersion = { method: 'POST', path: `${path}/event-versions`, body: definition } as const;
    requests.push({ ...newVersion, makesVersion: true });
  }
  if (version?.isNew === false) {
    const body = { ...NO_VERSION, ...replacing(definition) };
    requests.push({ method: 'PUT', path: versionPath(name, version.number), body });
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
