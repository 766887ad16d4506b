import type { PushProblem, PushRecord, PushStatus } from '@orrery/contracts';
import { type BoundedCount, countUpTo, page } from '@orrery/database';
import { sql } from 'kysely';
import type { Db } from '../database/schema.js';

/** A push with what its attempt and its lane say about it. */
export interface PushRow {
  readonly chain: string;
  readonly number: number;
  readonly history_id: string;
  readonly seq: number;
  readonly digest: string;
  readonly truncated: boolean;
  readonly status: PushStatus;
  readonly error: PushProblem | null;
  readonly transaction: string | null;
  readonly block: number | null;
  readonly stop: string | null;
  readonly waits_for: string | null;
  /** Of a transaction that waits for its block, transactions of the signer that the chain has to include before it. */
  readonly earlier: number | null;
}

const rowsOf = (db: Db, deployment: string) =>
  db
    .selectFrom('pushes as push')
    .leftJoin('attempts as attempt', 'attempt.id', 'push.attempt_id')
    .leftJoin('chains as known', (join) =>
      join.onRef('known.name', '=', 'push.chain').onRef('known.signer', '=', 'attempt.signer'),
    )
    .innerJoin('lanes as lane', (join) =>
      join.onRef('lane.deployment', '=', 'push.deployment').onRef('lane.chain', '=', 'push.chain'),
    )
    .where('push.deployment', '=', deployment);

const COLUMNS = [
  'push.chain',
  'push.number',
  'push.history_id',
  'push.seq',
  'push.digest',
  'push.truncated',
  'push.status',
  'push.error',
  'attempt.transaction',
  'attempt.block',
  'lane.stop',
  'lane.waits_for',
  // In its first seconds a transaction waits for nothing else than those that were sent with it.
  sql<number | null>`case when attempt.state = 'open' and attempt.created_at < now() - interval '10 seconds'
    then attempt.nonce - known.nonce end`.as('earlier'),
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
  if (state !== undefined) query = query.where('status', '=', state);
  // The page is cut before the joins.
  const numbers = page(query.select(['chain', 'number']).orderBy('seq', 'desc').orderBy('chain'), window);
  const rows = rowsOf(db, deployment)
    .where(({ eb, refTuple }) =>
      eb(refTuple('push.chain', 'push.number'), 'in', numbers.$asTuple('chain', 'number')),
    )
    .select(COLUMNS)
    .orderBy('push.seq', 'desc')
    .orderBy('push.chain');
  return { rows: await rows.execute(), count: await countUpTo(db, query) };
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

/** The pushes that an attempt carries. */
export const pushesOfAttempt = (db: Db, deployment: string, attemptId: number): Promise<PushRow[]> =>
  rowsOf(db, deployment)
    .where('push.attempt_id', '=', attemptId)
    .select(COLUMNS)
    .orderBy('push.number')
    .execute();

const isUuid = (text: string): boolean => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

const EARLIER = 'earlier_transactions';

/** What a queued push waits for, where it is not its turn alone. */
const WAITS: Readonly<Record<string, string>> = {
  failed: 'An earlier push of the deployment to this chain failed. Retry or skip that one.',
  chain_ahead: 'The chain holds other pushes under these numbers. The operator has to adopt them.',
  quota_exceeded: "The account's pushes of today are used up. The push is sent after 00:00 UTC.",
  not_compared: 'What the chain holds of the deployment could not be read yet. It is tried again.',
  chain_unconfigured: 'The operator has not configured this chain.',
  chain_unavailable: 'The chain cannot be used at present. The push is sent as soon as it can.',
};

/** A push as it is shown. `transactionUrl` makes the explorer's address of a transaction. */
export function toPushRecord(
  row: PushRow,
  transactionUrl: (chain: string, transaction: string) => string | null,
  obstacleOf: (chain: string) => string | undefined,
): PushRecord {
  const obstacle = row.stop ?? row.waits_for ?? obstacleOf(row.chain);
  const waiting = row.status === 'queued' && obstacle !== undefined;
  const isBehind = row.status === 'submitted' && row.error === null && (row.earlier ?? 0) > 0;
  const behind = {
    code: EARLIER,
    detail: `A chain includes the transactions of a signer in their order; ${row.earlier} before this one are in no block yet.`,
  };
  return {
    historyId: row.history_id,
    seq: row.seq,
    chain: row.chain,
    number: row.number,
    status: row.status,
    transaction: row.transaction,
    block: row.block,
    explorerUrl: row.transaction === null ? null : transactionUrl(row.chain, row.transaction),
    error: waiting ? { code: obstacle, detail: WAITS[obstacle] ?? obstacle } : isBehind ? behind : row.error,
    truncated: row.truncated,
    digest: row.digest,
  };
}
