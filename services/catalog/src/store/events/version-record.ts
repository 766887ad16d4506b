import type { Caller, ExecutionSettings, VersionRecord } from '@orrery/contracts';
import { type SchemaHashes, toDefinition, versionHash } from '../../core/definitions/version-hash.js';
import { isOwner } from '../../core/worlds.js';
import { timesOf } from '../tables/db.js';
import type { WorldRow } from '../tables/schema.js';
import type { ListedVersion } from './version-store.js';

/** The version as the caller may see it: prompts and templates are shown only to the owner (docs/catalog.md). */
export function toVersionRecord(
  row: ListedVersion & { event: string },
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
    ...timesOf(row),
  };
}

function withoutTexts({
  behaviorPrompt: _prompt,
  mutationSettings,
  executionSettings,
  followUps: _followUps,
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
