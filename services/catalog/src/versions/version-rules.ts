import type { Caller, ExecutionSettings, MutationSettings, VersionRecord } from '@orrery/contracts';
import type { VersionRow, WorldRow } from '../database/schema.js';
import { contentHash } from '../hashing/content-hash.js';
import { isOwner } from '../worlds/world-rules.js';
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

/** The version as the caller may see it: prompts and templates are shown only to the owner (docs/catalog.md). */
export function toVersionRecord(
  row: Omit<VersionRow, 'frozen_schemas' | 'definition_hash' | 'uses_all_schemas'> & { event: string },
  world: WorldRow,
  schemas: SchemaHashes,
  caller: Caller,
): VersionRecord {
  const definition = toDefinition(row.definition);
  return {
    id: row.id,
    eventId: row.event_id,
    event: row.event,
    version: row.version,
    isLocked: row.locked_at !== null,
    lockedAt: row.locked_at?.toISOString() ?? null,
    versionHash: row.version_hash ?? versionHash(row.definition, schemas),
    ...(isOwner(world, caller) ? definition : withoutTexts(definition)),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function withoutTexts({
  behaviorPrompt: _prompt,
  mutationSettings,
  executionSettings,
  ...shown
}: ReturnType<typeof toDefinition>) {
  return {
    ...shown,
    mutationSettings: mutationSettings && { mode: mutationSettings.mode },
    executionSettings: executionSettings && withoutInput(executionSettings),
  };
}

function withoutInput({ cron, ...settings }: ExecutionSettings): ExecutionSettings {
  if (cron === undefined) return settings;
  const { input: _input, ...schedule } = cron;
  return { ...settings, cron: schedule };
}
