import { type ReadOptions, useGet, useList } from './read.js';
import type { World } from './records.js';

export const WORLDS = '/api/worlds';
export const WORLD = '/api/worlds/{worldAddress}';
export const SCHEMAS = `${WORLD}/entity-schemas` as const;
export const SCHEMA = `${SCHEMAS}/{schemaName}` as const;
export const EVENTS = `${WORLD}/events` as const;
export const EVENT = `${EVENTS}/{eventName}` as const;
export const VERSIONS = `${EVENT}/event-versions` as const;
export const VERSION = `${VERSIONS}/{version}` as const;

export const useWorld = (world: string) =>
  useGet('/api/worlds/{idOrAddress}', { path: { idOrAddress: world } });

/** Only the owner is shown the prompt seed, if only as null. */
export const isOwn = (world: World | undefined): boolean => world?.promptSeed !== undefined;

export const useSchemas = (world: string, options?: ReadOptions) =>
  useList(SCHEMAS, { worldAddress: world }, options);

export interface EventRef {
  readonly world: string;
  readonly event: string;
}
export const eventPath = ({ world, event }: EventRef) => ({ worldAddress: world, eventName: event });

export const useEvents = (world: string, options?: ReadOptions) =>
  useList(EVENTS, { worldAddress: world }, options);

export const useVersions = (ref: EventRef) => useList(VERSIONS, eventPath(ref));
