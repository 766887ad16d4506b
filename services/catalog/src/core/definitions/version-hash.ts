import type { MutationSettings } from '@orrery/contracts';
import { contentHash } from './content-hash.js';
import type { StoredVersion } from './stored-version.js';

/** Name → hash of the schemas that a version runs with. */
export type SchemaHashes = Record<string, string>;

/** A definition as its owner reads it and as it is hashed: the prompt appears at the top level and in the settings. */
export function toDefinition({ mutationSettings, ...version }: StoredVersion) {
  const { behaviorPrompt } = version;
  const settings: MutationSettings | null = mutationSettings && {
    ...mutationSettings,
    ...(behaviorPrompt !== null && { behaviorPrompt }),
  };
  return { ...version, mutationSettings: settings };
}

/**
 * SHA-256 of the RFC 8785 JSON of the definition and the hashes of its schemas: those that it names, all of the world
 * when it has no map of state changes; copies when it is locked, else as they now are.
 */
export const versionHash = (version: StoredVersion, schemas: SchemaHashes): string =>
  contentHash({ ...toDefinition(version), schemas });
