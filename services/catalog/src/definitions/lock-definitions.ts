import { ServiceError, type VersionDefinition, type WorldTexts } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Announce } from '../changes/announce-change.js';
import { holdWorldById } from '../claims/claim-targets.js';
import type { Trx } from '../database/db.js';
import type { VersionRow, WorldRow } from '../database/schema.js';
import { lockVersion } from '../versions/lock-version.js';
import { toWorldTexts } from './definition-rules.js';
import { loadVersionDefinitions } from './load-definitions.js';

/** What locking needs. */
export interface LockDependencies {
  readonly clock: Clock;
  readonly announce: Announce;
}

/**
 * Locks versions for the lock of a deployment, all or none, and returns them. Idempotent: repeating it completes a lock
 * of a deployment that was interrupted.
 */
export async function lockDefinitions(
  context: LockDependencies,
  trx: Trx,
  worldId: number,
  versionIds: readonly number[],
): Promise<{ definitions: VersionDefinition[]; world: WorldTexts }> {
  const world = await holdWorldById(trx, worldId);
  if (world === undefined) throw new ServiceError('unknown_event');
  const versions = await holdAll(trx, worldId, versionIds);
  for (const version of versions) await lockOne(context, trx, world, version);
  return { definitions: await loadVersionDefinitions(trx, versionIds), world: toWorldTexts(world) };
}

type HeldVersion = VersionRow & { event: string };

/** Locks events before versions, each in order of id, as all transactions do (docs/catalog.md). */
async function holdAll(trx: Trx, worldId: number, versionIds: readonly number[]): Promise<HeldVersion[]> {
  if (versionIds.length === 0) return [];
  const ids = [...new Set(versionIds)];
  const events = await trx
    .selectFrom('events')
    .select(['id', 'name'])
    .where('world_id', '=', worldId)
    .where('id', 'in', trx.selectFrom('event_versions').select('event_id').where('id', 'in', ids))
    .orderBy('id')
    .forKeyShare()
    .execute();
  const rows = await trx
    .selectFrom('event_versions')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const held = rows.flatMap((row) => {
    const event = events.find(({ id }) => id === row.event_id);
    return event === undefined ? [] : [{ ...row, event: event.name }];
  });
  if (held.length < ids.length) throw new ServiceError('unknown_event_version');
  return held;
}

async function lockOne(
  context: LockDependencies,
  trx: Trx,
  world: WorldRow,
  version: HeldVersion,
): Promise<void> {
  if (version.locked_at !== null) return;
  await lockVersion(context, trx, world.id, version);
  await context.announce(trx, world, {
    subject: 'event_version',
    id: version.id,
    name: version.event,
    version: version.version,
    change: 'locked',
  });
}
