import { type PageQuery, type Pagination, paginationOf } from '@orrery/contracts';
import { COUNT_LIMIT } from '@orrery/database';
import { sql } from 'kysely';
import type { Commitments } from '../../core/randomness/secrets.js';
import { awayFrom } from '../leases/homes.js';
import { type DeploymentRow, IS_CODE_PUBLIC, IS_KEPT, RANDOMNESS } from '../state/deployment-state.js';
import type { Db } from '../tables/schema.js';

/** A world's deployments that an account can see: its own and the public ones. */
interface Visible {
  readonly worldId: number;
  /** Undefined: somebody without an account. */
  readonly accountId: number | undefined;
  /** Of these partitions alone. */
  readonly partitions?: readonly number[];
}

/** In order of creation. The total is counted to one beyond 10,000: `paginationOfCounted` says how. */
export async function listDeployments(
  db: Db,
  visible: Visible,
  { page, limit }: PageQuery,
): Promise<{ rows: DeploymentRow[]; total: number }> {
  const end = page * limit;
  const shown = firstIds(db, visible, end)
    .orderBy('id')
    .offset(end - limit);
  const rows = await wholeRows(db).where('id', 'in', shown).orderBy('id').execute();
  return { rows, total: await countBeyond(db, visible, COUNT_LIMIT) };
}

/**
 * The same of a database in which some partitions live: how many, and the ids of the first `most`; or the rows that `ids` names.
 * `away`: those of the partitions that are not here, so their deployments may be missing.
 */
export async function listDeploymentsHere(
  db: Db,
  worldId: number,
  accountId: number | null,
  {
    most,
    ids,
    partitions,
  }: {
    readonly most: number;
    readonly ids: readonly number[] | null;
    readonly partitions: readonly number[];
  },
): Promise<{ rows: DeploymentRow[]; ids: number[]; total: number; away: number[] }> {
  const visible = { worldId, accountId: accountId ?? undefined, partitions };
  // Asked last: what leaves before it is missing in what was read, or not away.
  const away = () => awayFrom(db, partitions);
  if (ids !== null) {
    const rows = await visibleRows(db, visible, ids).execute();
    return { rows, ids: [], total: 0, away: await away() };
  }
  // A process of the release before ends its list at this total, so it is never less than what is there up to the page's end.
  const total = await countBeyond(db, visible, Math.max(most, COUNT_LIMIT));
  const first = await firstIds(db, visible, most).orderBy('id').execute();
  return { rows: [], ids: first.map(({ id }) => id), total, away: await away() };
}

/** Of a total that was counted to beyond the limit of all counts, or is the sum of such. */
export const paginationOfCounted = (query: PageQuery, total: number): Pagination =>
  total > COUNT_LIMIT
    ? { ...paginationOf(query, COUNT_LIMIT), totalIsMinimum: true }
    : paginationOf(query, total);

/** How many there are, or one more than `most`. */
async function countBeyond(db: Db, visible: Visible, most: number): Promise<number> {
  const counted = await db
    .selectFrom(firstIds(db, visible, most + 1).as('first'))
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirst();
  return counted?.total ?? 0;
}

/**
 * The lowest `most` ids, in any order. The own ones and the public ones are read apart, each in the order of an index and no
 * further: with one condition for both, all of them are sorted, or all deployments of the world gone through.
 */
function firstIds(db: Db, { worldId, accountId, partitions }: Visible, most: number) {
  const here =
    partitions === undefined ? sql`true` : sql`id % 64 = any(cast(${[...partitions]} as bigint[]))`;
  const those = (condition: typeof here) => sql<{ id: number }>`(
    select id from deployments where world_id = ${worldId} and deleted_at is null and ${condition} and ${here}
    order by id limit ${most})`;
  const published = those(sql`is_public`);
  const own = those(sql`owner_account_id = ${accountId}`);
  const ids =
    accountId === undefined
      ? published
      : sql<{ id: number }>`(${own} union ${published} order by id limit ${most})`;
  return db.selectFrom(ids.as('first')).select('id');
}

const wholeRows = (db: Db) =>
  db
    .selectFrom('deployments as d')
    .selectAll()
    .select([
      sql<boolean | null>`${sql.raw(IS_KEPT)}`.as('is_kept'),
      sql<boolean>`${sql.raw(IS_CODE_PUBLIC)}`.as('is_code_public'),
      sql<Commitments | null>`${sql.raw(RANDOMNESS)}`.as('randomness'),
    ]);

const visibleRows = (db: Db, { worldId, accountId, partitions = [] }: Visible, ids: readonly number[]) =>
  wholeRows(db)
    .where('id', 'in', [0, ...ids])
    .where('world_id', '=', worldId)
    .where('deleted_at', 'is', null)
    .where(({ or, eb }) => or([eb('is_public', '=', true), eb('owner_account_id', '=', accountId ?? -1)]))
    .where(sql<boolean>`id % 64 = any(cast(${[...partitions]} as bigint[]))`);
