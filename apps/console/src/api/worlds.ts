import { PAGED, readAll, readPage, useRead } from './read.js';
import type { World } from './records.js';

/** What belongs to a world has a key that begins with this one, so that all of it can be read anew. */
export const worldKey = (world: string) => ['world', world] as const;
export const schemasKey = (world: string) => [...worldKey(world), 'schemas'] as const;
export const eventsKey = (world: string) => [...worldKey(world), 'events'] as const;

/** Whose worlds: one's own, or all that one can read. */
export type WorldsOwner = 'me' | 'all';

export const useWorlds = (owner: WorldsOwner, page: number) =>
  useRead(
    ['worlds', { owner, page }],
    (orrery, signal) => {
      const query = { page, limit: 50, ...(owner === 'me' && { owner }) };
      return readPage(orrery, '/api/worlds', { query, signal });
    },
    PAGED,
  );

export const useWorld = (world: string) =>
  useRead(worldKey(world), (orrery, signal) =>
    orrery.get('/api/worlds/{idOrAddress}', { path: { idOrAddress: world }, signal }),
  );

/** Only the owner is shown the prompt seed, if only as null. */
export const isOwn = (world: World | undefined): boolean => world?.promptSeed !== undefined;

export const SCHEMAS = '/api/worlds/{worldAddress}/entity-schemas';

export const useSchemas = (world: string) =>
  useRead(schemasKey(world), (orrery, signal) =>
    readAll(orrery, SCHEMAS, { path: { worldAddress: world }, signal }),
  );

export const useSchema = (world: string, schemaName: string) =>
  useRead([...schemasKey(world), schemaName], (orrery, signal) =>
    orrery.get(`${SCHEMAS}/{schemaName}`, { path: { worldAddress: world, schemaName }, signal }),
  );

export interface EventRef {
  readonly world: string;
  readonly event: string;
}

export const EVENTS = '/api/worlds/{worldAddress}/events';
export const EVENT = `${EVENTS}/{eventName}` as const;
export const VERSIONS = `${EVENT}/event-versions` as const;

export const eventKey = ({ world, event }: EventRef) => [...eventsKey(world), event] as const;
export const eventPath = ({ world, event }: EventRef) => ({ worldAddress: world, eventName: event });

export const useEvents = (world: string) =>
  useRead(eventsKey(world), (orrery, signal) =>
    readAll(orrery, EVENTS, { path: { worldAddress: world }, signal }),
  );

export const useEvent = (ref: EventRef) =>
  useRead(eventKey(ref), (orrery, signal) => orrery.get(EVENT, { path: eventPath(ref), signal }));

export const useVersions = (ref: EventRef) =>
  useRead([...eventKey(ref), 'versions'], (orrery, signal) =>
    readAll(orrery, VERSIONS, { path: eventPath(ref), signal }),
  );

export const useVersion = (ref: EventRef, version: number) =>
  useRead([...eventKey(ref), 'versions', version], (orrery, signal) =>
    orrery.get(`${VERSIONS}/{version}`, { path: { ...eventPath(ref), version }, signal }),
  );
