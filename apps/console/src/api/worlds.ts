import { useGet, useList, usePage } from './read.js';
import type { World } from './records.js';

export const WORLDS = '/api/worlds';
export const WORLD = '/api/worlds/{worldAddress}';
export const SCHEMAS = `${WORLD}/entity-schemas` as const;
export const SCHEMA = `${SCHEMAS}/{schemaName}` as const;
export const EVENTS = `${WORLD}/events` as const;
export const EVENT = `${EVENTS}/{eventName}` as const;
export const VERSIONS = `${EVENT}/event-versions` as const;
export const VERSION = `${VERSIONS}/{version}` as const;

/** Whose worlds: one's own, or all that one can read. */
export type WorldsOwner = 'me' | 'all';

export const useWorlds = (owner: WorldsOwner, page: number) =>
  usePage(WORLDS, {}, { page, owner: owner === 'me' ? owner : undefined });

export const useWorld = (world: string) =>
  useGet('/api/worlds/{idOrAddress}', { path: { idOrAddress: world } });

/** Only the owner is shown the prompt seed, if only as null. */
export const isOwn = (world: World | undefined): boolean => world?.promptSeed !== undefined;

export const useSchemas = (world: string) => useList(SCHEMAS, { worldAddress: world });

export const useSchema = (world: string, schemaName: string) =>
  useGet(SCHEMA, { path: { worldAddress: world, schemaName } });

export interface EventRef {
  readonly world: string;
  readonly event: string;
}
export const eventPath = ({ world, event }: EventRef) => ({ worldAddress: world, eventName: event });

export const useEvents = (world: string) => useList(EVENTS, { worldAddress: world });

export const useEvent = (ref: EventRef) => useGet(EVENT, { path: eventPath(ref) });

export const useVersions = (ref: EventRef) => useList(VERSIONS, eventPath(ref));

export const useVersion = (ref: EventRef, version: number) =>
  useGet(VERSION, { path: { ...eventPath(ref), version } });
