import type { VersionDefinition } from '@orrery/contracts';
import { cronOf } from '../schedules/schedule-store.js';
import type { Db, ScheduleRow } from '../tables/schema.js';

/** What a version says of when it is due, and what tells it from others. */
export type BoundDefinition = Pick<
  VersionDefinition,
  'worldId' | 'event' | 'versionId' | 'version' | 'isLocked' | 'versionHash' | 'hash' | 'executionSettings'
>;

const COLUMNS = [
  'world_id',
  'event',
  'version_id',
  'event_version',
  'version_hash',
  'definition_hash',
  'is_draft',
  'schedule',
  'timezone',
  'input',
] as const satisfies readonly (keyof ScheduleRow)[];

/** What the versions said that a deployment had bound when it was synced, by their ids. */
export async function definitionsBefore(
  db: Db,
  deployment: string,
): Promise<ReadonlyMap<number, BoundDefinition>> {
  const rows = await db
    .selectFrom('schedules')
    .select(COLUMNS)
    .where('deployment', '=', deployment)
    .execute();
  const known = rows.map(definitionOf).filter((definition) => definition !== undefined);
  return new Map(known.map((definition) => [definition.versionId, definition]));
}

/** Undefined where no definition was known. */
function definitionOf(row: Pick<ScheduleRow, (typeof COLUMNS)[number]>): BoundDefinition | undefined {
  const {
    version_id: versionId,
    event_version: version,
    version_hash: versionHash,
    definition_hash: hash,
  } = row;
  if (versionId === null || version === null || versionHash === null || hash === null) return undefined;
  const { world_id: worldId, event, is_draft, input } = row;
  const cron = cronOf(row);
  return {
    worldId,
    event,
    versionId,
    version,
    isLocked: !is_draft,
    versionHash,
    hash,
    executionSettings: cron && { visibility: 'cron', cron: { ...cron, ...(input !== null && { input }) } },
  };
}
