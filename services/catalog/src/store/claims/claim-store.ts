import { sql } from 'kysely';
import { type ClaimKind, USERS_SOUGHT } from '../../core/claims.js';
import type { Db, Trx } from '../tables/db.js';
import type { ClaimRow } from '../tables/schema.js';

/**
 * Claims targets for a deployment and answers the revisions by target. The caller has locked their rows, so deletions
 * wait. Claiming again makes a new claim with a revision of its own, which no release of the one before removes.
 */
export async function putClaims(
  { trx, now }: { readonly trx: Trx; readonly now: Date },
  { deployment, worldId }: { deployment: string; worldId: number },
  kind: ClaimKind,
  targetIds: readonly number[],
): Promise<Record<string, number>> {
  if (targetIds.length === 0) return {};
  const ids = [...new Set(targetIds)].sort((a, b) => a - b);
  const claims = await trx
    .insertInto('claims')
    .values(ids.map((id) => ({ deployment, kind, target_id: id, world_id: worldId, checked_at: now })))
    .onConflict((conflict) =>
      conflict.columns(['deployment', 'kind', 'target_id']).doUpdateSet({
        revision: sql`excluded.revision`,
        checked_at: now,
      }),
    )
    .returning(['target_id', 'revision'])
    .execute();
  return Object.fromEntries(claims.map(({ target_id, revision }) => [target_id, revision]));
}

/** What claims a world and all in it, an event by any of its versions, a version or a schema. */
const CLAIMING = {
  world: (id: number) => sql<boolean>`world_id = ${id}`,
  event: (id: number) =>
    sql<boolean>`kind = 'version' and target_id in (select id from event_versions where event_id = ${id})`,
  version: (id: number) => sql<boolean>`kind = 'version' and target_id = ${id}`,
  schema: (id: number) => sql<boolean>`kind = 'schema' and target_id = ${id}`,
} as const;

/** Addresses of deployments that have claimed it, some of them. */
export async function claimantsOf(trx: Trx, what: keyof typeof CLAIMING, id: number): Promise<string[]> {
  const claims = await trx
    .selectFrom('claims')
    .select('deployment')
    .distinct()
    .where(CLAIMING[what](id))
    .orderBy('deployment')
    .limit(USERS_SOUGHT)
    .execute();
  return claims.map(({ deployment }) => deployment);
}

export async function releaseAll(db: Db, deployment: string): Promise<number> {
  const released = await db.deleteFrom('claims').where('deployment', '=', deployment).executeTakeFirst();
  return Number(released.numDeletedRows);
}

/** A claim as it was made or seen. */
export interface SeenClaim {
  readonly id: number;
  readonly revision: number;
}

/** Releases those claims that have not been made again since, and returns their number. */
export async function releaseSeen(
  db: Db,
  deployment: string,
  kind: ClaimKind,
  seen: readonly SeenClaim[],
): Promise<number> {
  if (seen.length === 0) return 0;
  const released = await db
    .deleteFrom('claims')
    .where('deployment', '=', deployment)
    .where('kind', '=', kind)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('target_id', 'revision'),
        'in',
        seen.map(({ id, revision }) => tuple(id, revision)),
      ),
    )
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
