import { type DeliveryRecord, ServiceError, WEBHOOK_LIMITS } from '@orrery/contracts';
import { countUpTo, page, transaction } from '@orrery/database';
import { type Selectable, sql } from 'kysely';
import { type Attempt, problemOf } from '../../core/webhooks/after-attempt.js';
import type { Taken } from '../../core/webhooks/standing-entries.js';
import type { ChainPusherSchema, Db } from '../tables/schema.js';
import { type ClaimBounds, isNotCrowded } from './claimed-webhooks.js';
import { pruneFor } from './prune-deliveries.js';
import { findWebhook, notFound, type WebhookKey, type WebhookRow } from './webhook-store.js';

type DeliveryRow = Selectable<ChainPusherSchema['webhook_deliveries']>;

/** A page of the deliveries that are kept, newest first. @throws `webhook_not_found` */
export async function listDeliveries(
  db: Db,
  key: WebhookKey,
  state: DeliveryRecord['state'] | undefined,
  window: { page: number; limit: number },
) {
  const { id } = await findWebhook(db, key);
  let all = db.selectFrom('webhook_deliveries').where('webhook_id', '=', id);
  if (state !== undefined) all = all.where('state', '=', state);
  const [rows, { total }] = await Promise.all([
    page(all.selectAll().orderBy('number', 'desc'), window).execute(),
    countUpTo(db, all),
  ]);
  return { rows, total };
}

/** What is asked for: an entry of the journal again, or a test. */
export type AskedFor = Pick<DeliveryRow, 'kind' | 'history_id' | 'seq' | 'event'>;

const MAX_QUEUED = WEBHOOK_LIMITS.waitingByHand;

/** @throws `webhook_not_found`, `limit_reached` */
export const queueDelivery = (db: Db, key: WebhookKey, asked: AskedFor): Promise<DeliveryRow> =>
  transaction(db, async (trx) => {
    const { id } = await findWebhook(trx, key);
    const numbered = await trx
      .updateTable('webhooks')
      .set({ last_number: sql<number>`last_number + 1` })
      .where('id', '=', id)
      .returning('last_number')
      .executeTakeFirst();
    if (numbered === undefined) throw notFound();
    const queued = trx
      .selectFrom('webhook_deliveries')
      .where('webhook_id', '=', id)
      .where('state', '=', 'queued');
    if ((await countUpTo(trx, queued)).total >= MAX_QUEUED)
      throw new ServiceError(
        'limit_reached',
        `${MAX_QUEUED} deliveries wait already: wait for their outcomes.`,
      );
    await pruneFor(id, sql`${numbered.last_number}::bigint`).execute(trx);
    return trx
      .insertInto('webhook_deliveries')
      .values({ ...asked, webhook_id: id, number: numbered.last_number, state: 'queued' })
      .returningAll()
      .executeTakeFirstOrThrow();
  });

/** The last entry that a webhook is done with, or is trying to deliver. */
export async function lastTried(
  db: Db,
  { id, seq, open_number }: Pick<WebhookRow, 'id' | 'seq' | 'open_number'>,
): Promise<number> {
  const open = await db
    .selectFrom('webhook_deliveries')
    .select('seq')
    .where('webhook_id', '=', id)
    .where('number', '=', open_number)
    .executeTakeFirst();
  return Math.max(seq, open?.seq ?? 0);
}

/** A delivery that was asked for, and where it goes. */
export type ClaimedDelivery = Pick<DeliveryRow, 'webhook_id' | 'number' | 'seq' | 'history_id'> &
  Pick<WebhookRow, 'id' | 'deployment' | 'account_id' | 'url' | 'secret' | 'old_secret'>;

/** A process that has not said what came of it after so many seconds is gone. */
const CLAIM_SECONDS = 30;

export async function claimDeliveries(db: Db, bounds: ClaimBounds): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<ClaimedDelivery>`
    with due as (
      select d.webhook_id, d.number from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'queued' and (d.claimed_until is null or d.claimed_until < now())
        and not exists (select from accounts a where a.account_id = w.account_id and a.disabled)
        and ${isNotCrowded('w.account_id', bounds)}
      order by d.created_at limit ${bounds.most} for update of d skip locked
    )
    update webhook_deliveries d set claimed_until = now() + ${CLAIM_SECONDS} * interval '1 second'
    from due join webhooks w on w.id = due.webhook_id
    where d.webhook_id = due.webhook_id and d.number = due.number
    returning d.webhook_id, d.number, d.seq, d.history_id, w.id, w.deployment, w.account_id, w.url, w.secret,
      case when w.old_secret_until > now() then w.old_secret end as old_secret`.execute(db);
  return rows;
}

/** Tried once. A receiver that takes it again is sent at once what waits for it. */
export async function recordDelivery(
  db: Db,
  { webhook_id: id, number }: ClaimedDelivery,
  attempt: Attempt,
): Promise<void> {
  const problem = problemOf(attempt);
  await sql`
    update webhook_deliveries set state = ${problem === undefined ? 'delivered' : 'failed'}, attempts = attempts + 1,
      response_status = ${attempt.status ?? null}, problem = ${problem === undefined ? null : JSON.stringify(problem)}::jsonb,
      duration_ms = ${Math.round(attempt.durationMs)}, attempted_at = now(), claimed_until = null
    where webhook_id = ${id} and number = ${number} and state = 'queued'`.execute(db);
  if (problem === undefined)
    await sql`
      update webhooks set due_at = now()
      where id = ${id} and failures > 0 and disabled_at is null and claim is null`.execute(db);
}

const { deliveriesKept, deliveriesKeptDays } = WEBHOOK_LIMITS;

/** What the receiver of a webhook has taken by itself, newest first, as far as it is kept. */
export async function takenEntries(db: Db, webhookId: string): Promise<Taken[]> {
  const { rows } = await sql<Taken>`
    select history_id as "historyId", seq from webhook_deliveries
    where webhook_id = ${webhookId} and kind = 'entry' and state = 'delivered' and seq is not null
    order by number desc limit ${deliveriesKept}`.execute(db);
  return rows;
}

/** From when on, in milliseconds, a webhook has taken nothing of which no delivery is kept. */
export async function firstNotTaken(db: Db, webhookId: string): Promise<number> {
  const { rows } = await sql<{ since: Date }>`
    select greatest(created_at, now() - ${deliveriesKeptDays} * interval '1 day') as since
    from webhooks where id = ${webhookId}`.execute(db);
  return rows[0]?.since.getTime() ?? 0;
}
