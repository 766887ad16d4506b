import { sql } from 'kysely';
import type { Db, Trx } from '../database/db.js';
import type { ClaimKind, ClaimRow } from '../database/schema.js';

/**
 * Claims targets for a deployment. The caller has locked their rows, so deletions wait. Claiming again makes a new claim
 * (a higher revision), which a sweep that started before does not release.
 */
export async function putClaims(
  trx: Trx,
  { deployment, worldId, now }: { deployment: string; worldId: number; now: Date },
  kind: ClaimKind,
  targetIds: readonly number[],
): Promise<void> {
  if (targetIds.length === 0) return;
  const ids = [...new Set(targetIds)].sort((a, b) => a - b);
  await trx
    .insertInto('claims')
    .values(ids.map((id) => ({ deployment, kind, target_id: id, world_id: worldId, checked_at: now })))
    .onConflict((conflict) =>
      conflict.columns(['deployment', 'kind', 'target_id']).doUpdateSet({
        revision: sql`claims.revision + 1`,
        checked_at: now,
      }),
    )
    .execute();
}

export async function isClaimed(
  trx: Trx,
  kind: Exclude<ClaimKind, 'world'>,
  targetId: number,
): Promise<boolean> {
  const claim = await trx
    .selectFrom('claims')
    .select('deployment')
    .where('kind', '=', kind)
    .where('target_id', '=', targetId)
    .limit(1)
    .executeTakeFirst();
  return claim !== undefined;
}

/** Whether anything in the world, or the world itself, is claimed. */
export async function isWorldClaimed(trx: Trx, worldId: number): Promise<boolean> {
  const claim = await trx
    .selectFrom('claims')
    .select('deployment')
    .where('world_id', '=', worldId)
    .limit(1)
    .executeTakeFirst();
  return claim !== undefined;
}

/** Whether any version of the event is claimed. */
export async function isEventClaimed(trx: Trx, eventId: number): Promise<boolean> {
  const claim = await trx
    .selectFrom('claims')
    .innerJoin('event_versions', 'event_versions.id', 'claims.target_id')
    .select('claims.deployment')
    .where('claims.kind', '=', 'version')
    .where('event_versions.event_id', '=', eventId)
    .limit(1)
    .executeTakeFirst();
  return claim !== undefined;
}

/** Releases claims and returns their number. */
export async function releaseTargets(
  db: Db,
  deployment: string,
  kind: ClaimKind,
  targetIds: readonly number[],
): Promise<number> {
  if (targetIds.length === 0) return 0;
  const released = await db
    .deleteFrom('claims')
    .where('deployment', '=', deployment)
    .where('kind', '=', kind)
    .where('target_id', 'in', [...targetIds])
    .executeTakeFirst();
  return Number(released.numDeletedRows);
}

export async function releaseAll(db: Db, deployment: string): Promise<number> {
  const released = await db.deleteFrom('claims').where('deployment', '=', deployment).executeTakeFirst();
  return Number(released.numDeletedRows);
}

/** Releases a claim if its revision is still the one that the sweep saw. */
export async function releaseSeen(db: Db, claim: ClaimRow): Promise<number> {
  const released = await db
    .deleteFrom('claims')
    .where('deployment', '=', claim.deployment)
    .where('kind', '=', claim.kind)
    .where('target_id', '=', claim.target_id)
    .where('revision', '=', claim.revision)
    .executeTakeFirst();
  return Number(released.numDeletedRows);
}

/**
 * The claims of some deployments that were last checked before `before`, oldest first. They are marked as checked now, so
 * that other replicas take others and a deployment whose owner does not answer does not delay the rest.
 */
export async function takeUnchecked(
  db: Db,
  before: Date,
  now: Date,
  deployments: number,
): Promise<ClaimRow[]> {
  const { rows } = await sql<ClaimRow>`
    update claims set checked_at = ${now}
    where deployment in (
      select deployment from (
        select deployment, checked_at from claims where checked_at < ${before} order by checked_at limit 1000
      ) as oldest group by deployment order by min(checked_at) limit ${deployments}
    ) and checked_at < ${before}
    returning *`.execute(db);
  return rows;
}
