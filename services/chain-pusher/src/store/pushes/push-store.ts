import { type ChainConfig, type JsonObject, type PushStatus, pushResult } from '@orrery/contracts';
import { type BoundedCount, countUpTo, enqueue, page } from '@orrery/database';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type PushRow, toPushRecord } from '../../core/pushes/push-record.js';
import type { Db, Trx } from '../tables/schema.js';

const rowsOf = (db: Db, deployment: string) =>
  db
    .selectFrom('pushes as push')
    .leftJoin('attempts as submission', 'submission.id', 'push.attempt_id')
    .leftJoin('chains as known', (join) =>
      join.onRef('known.name', '=', 'push.chain').onRef('known.signer', '=', 'submission.signer'),
    )
    .innerJoin('lanes as lane', (join) =>
      join.onRef('lane.deployment', '=', 'push.deployment').onRef('lane.chain', '=', 'push.chain'),
    )
    .where('push.deployment', '=', deployment);

/** The deployment was deleted before the push was sent; its row may not say so yet. */
function isCancelled(push: string, lane: string) {
  const [pushes, lanes] = [sql.table(push), sql.table(lane)];
  return sql<boolean>`${lanes}.cancels and ${pushes}.number > ${lanes}.last_number and ${pushes}.status in ('queued', 'failed')`;
}

const COLUMNS = [
  'push.chain',
  'push.number',
  'push.history_id',
  'push.seq',
  'push.digest',
  'push.truncated',
  'push.head',
  sql<PushStatus>`case when ${isCancelled('push', 'lane')} then 'cancelled' else push.status end`.as(
    'status',
  ),
  'push.error',
  'submission.transaction',
  'submission.block',
  'lane.stop',
  'lane.waits_for',
  // In its first seconds a transaction waits for nothing else than those that were sent with it.
  sql<
    number | null
  >`case when submission.state = 'open' and submission.created_at < now() - interval '10 seconds'
    then submission.nonce - known.nonce end`.as('earlier'),
] as const;

export interface PushFilter {
  readonly chain?: string | undefined;
  readonly state?: PushStatus | undefined;
}

/** A page of a deployment's pushes, newest first, and how many there are, counted to 10,000. */
export async function listPushes(
  db: Db,
  deployment: string,
  { chain, state }: PushFilter,
  window: { page: number; limit: number },
): Promise<{ rows: PushRow[]; count: BoundedCount }> {
  let query = db.selectFrom('pushes').where('deployment', '=', deployment);
  if (chain !== undefined) query = query.where('chain', '=', chain);
  if (state !== undefined) query = query.where(await inState(db, deployment, state));
  // The page is cut before the joins.
  const numbers = page(
    query.select(['chain', 'number']).orderBy('seq', 'desc').orderBy('chain').orderBy('number', 'desc'),
    window,
  );
  const rows = rowsOf(db, deployment)
    .where(({ eb, refTuple }) =>
      eb(refTuple('push.chain', 'push.number'), 'in', numbers.$asTuple('chain', 'number')),
    )
    .select(COLUMNS)
    .orderBy('push.seq', 'desc')
    .orderBy('push.chain')
    .orderBy('push.number', 'desc');
  return { rows: await rows.execute(), count: await countUpTo(db, query) };
}

/** Pushes in a state, where rows of the deployment may not say yet that they are cancelled. */
async function inState(db: Db, deployment: string, state: PushStatus): Promise<RawBuilder<SqlBool>> {
  const inRow = sql<SqlBool>`status = ${state}`;
  if (!['queued', 'failed', 'cancelled'].includes(state)) return inRow;
  const lanes = db.selectFrom('lanes').where('deployment', '=', deployment).where('cancels', '=', true);
  if ((await lanes.select('chain').limit(1).execute()).length === 0) return inRow;
  const cancelled = sql<SqlBool>`exists (select from lanes
    where lanes.deployment = pushes.deployment and lanes.chain = pushes.chain and ${isCancelled('pushes', 'lanes')})`;
  return state === 'cancelled' ? sql`(${inRow} or ${cancelled})` : sql`(${inRow} and not ${cancelled})`;
}

/** The pushes of these executions of a deployment; ids that are no UUID have none. */
export async function pushesOf(
  db: Db,
  deployment: string,
  historyIds: readonly string[],
): Promise<PushRow[]> {
  const ids = historyIds.filter(isUuid);
  if (ids.length === 0) return [];
  return rowsOf(db, deployment)
    .where('push.history_id', 'in', ids)
    .select(COLUMNS)
    .orderBy('push.chain')
    .execute();
}

/** Writes how a submission's pushes stand into the outbox. The lane's row is locked, so they are published in order. */
export async function publishChanges(
  trx: Trx,
  { name, explorerUrl }: ChainConfig,
  { id, deployment }: { readonly id: number; readonly deployment: string },
): Promise<void> {
  const carried = rowsOf(trx, deployment).where('push.attempt_id', '=', id);
  const rows = await carried.select(COLUMNS).orderBy('push.number').execute();
  if (rows.length === 0) return;
  const pushes = rows.map((row) => toPushRecord(row, explorerUrl));
  await enqueue(trx, [
    {
      name: pushResult.name,
      orderingKey: `${deployment} ${name}`,
      messageId: crypto.randomUUID(),
      payload: { deployment, pushes } as unknown as JsonObject,
    },
  ]);
}

const isUuid = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
