import type { ReplyOf, runtimeContract } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db, DeploymentRow } from '../tables/schema.js';

export type Heads = ReplyOf<(typeof runtimeContract.rpcs)['journal.heads']>['heads'];
const PROGRESS = 'lifecycle heads';

/** A deployment as far as it was followed. */
export const findFollowed = (db: Db, deployment: string): Promise<DeploymentRow | undefined> =>
  db.selectFrom('deployments').selectAll().where('address', '=', deployment).executeTakeFirst();

/** The deployments whose lifecycle was followed to another entry, or not at all. */
export async function behindOf(db: Db, heads: Heads): Promise<string[]> {
  const { rows } = await sql<{ deployment: string }>`
    select h.deployment from unnest(${heads.map(({ deployment }) => deployment)}::text[],
      ${heads.map(({ seq }) => seq)}::bigint[], ${heads.map(({ hash }) => hash)}::text[]) h (deployment, seq, hash)
    left join deployments d on d.address = h.deployment
    where d.address is null or d.seq <> h.seq or d.hash <> h.hash`.execute(db);
  return rows.map(({ deployment }) => deployment);
}

/** Where the last comparison of all heads began. */
export async function readProgress(db: Db): Promise<string | null> {
  const row = await db.selectFrom('progress').select('until').where('name', '=', PROGRESS).executeTakeFirst();
  return row?.until ?? null;
}

/** A pass that another process began later stays. */
export async function storeProgress(db: Db, until: string): Promise<void> {
  await sql`
    insert into progress as p (name, until) values (${PROGRESS}, ${until})
    on conflict (name) do update set until = greatest(p.until, excluded.until)`.execute(db);
}

/** Deployments that have a draft of an event bound: locked versions never change. */
export async function draftBindersOf(db: Db, worldId: number, event: string): Promise<string[]> {
  const rows = await db
    .selectFrom('schedules')
    .select('deployment')
    .where('world_id', '=', worldId)
    .where('event', '=', event)
    .where('is_draft', '=', true)
    .execute();
  return rows.map(({ deployment }) => deployment);
}

/** The drafts that a deployment has bound, as they were when it was synced. */
export async function draftsOf(db: Db, deployment: string): Promise<{ versionId: number; hash: string }[]> {
  const rows = await db
    .selectFrom('schedules')
    .select(['version_id', 'definition_hash'])
    .where('deployment', '=', deployment)
    .where('is_draft', '=', true)
    .where('version_id', 'is not', null)
    .execute();
  return rows.map((row) => ({ versionId: row.version_id ?? 0, hash: row.definition_hash ?? '' }));
}

/** Drafts that are bound, in the order of their ids, after one. Where deployments have several states of one, none is current. */
export async function draftsAfter(
  db: Db,
  after: number,
  limit: number,
): Promise<{ versionId: number; hash: string }[]> {
  const { rows } = await sql<{ versionId: number; hash: string }>`
    select version_id as "versionId", case when count(distinct definition_hash) > 1 then '' else max(definition_hash) end
      as hash
    from schedules where is_draft and version_id > ${after} group by version_id order by version_id limit ${limit}`.execute(
    db,
  );
  return rows;
}

/** Deployments that have one of these drafts bound. */
export async function deploymentsOf(
  db: Db,
  versions: readonly { readonly versionId: number }[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('schedules')
    .select('deployment')
    .distinct()
    .where(
      'version_id',
      'in',
      versions.map(({ versionId }) => versionId),
    )
    .where('is_draft', '=', true)
    .execute();
  return rows.map(({ deployment }) => deployment);
}
