import type { EventDefinition, SchemaDefinition, WorldDefinition } from './definitions.js';

/** All definitions of a world: what a folder holds, and what a server has. */
export interface WorldContent {
  readonly world: WorldDefinition;
  readonly schemas: readonly SchemaDefinition[];
  readonly events: readonly EventDefinition[];
}

/** A world on a server, with what its files do not say. */
export interface StoredWorld extends WorldContent {
  readonly address: string;
  /** By the names of events; an event all of whose versions are deleted has none. */
  readonly latest: ReadonlyMap<string, LatestVersion>;
}

export interface LatestVersion {
  readonly version: number;
  readonly isLocked: boolean;
}
