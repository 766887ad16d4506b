import {
  type CreatedWebhook,
  type RequestOf,
  ServiceError,
  WEBHOOK_LIMITS,
  type webhookRpcs,
} from '@orrery/contracts';
import { answerOnce, countUpTo, type KeyedRequest, page, transaction } from '@orrery/database';
import { type Selectable, sql } from 'kysely';
import { toWebhookRecord } from '../../core/webhooks/webhook-record.js';
import type { ChainPusherSchema, Db, Trx } from '../tables/schema.js';

export type WebhookRow = Selectable<ChainPusherSchema['webhooks']>;
type Body<Name extends keyof typeof webhookRpcs> = RequestOf<(typeof webhookRpcs)[Name]>['body'];

/** One webhook of one deployment. */
export interface WebhookKey {
  readonly deployment: string;
  readonly id: string;
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Before all ids. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

export const notFound = (): ServiceError => new ServiceError('webhook_not_found');

/** @throws `webhook_not_found` */
export async function findWebhook(db: Db, { deployment, id }: WebhookKey): Promise<WebhookRow> {
  const row = UUID.test(id)
    ? await db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', id)
        .where('deployment', '=', deployment)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw notFound();
  return row;
}

/** In the order in which they were made. */
export async function listWebhooks(db: Db, deployment: string, window: { page: number; limit: number }) {
  const all = db.selectFrom('webhooks').where('deployment', '=', deployment);
  const [rows, { total }] = await Promise.all([
    page(all.selectAll().orderBy('created_at').orderBy('id'), window).execute(),
    countUpTo(db, all),
  ]);
  return { rows, total };
}

export interface NewWebhook extends WebhookKey {
  readonly accountId: number | null;
  readonly secret: string;
  /** The last entry of the journal: it begins after it. */
  readonly head: { readonly seq: number; readonly hash: string | null };
}

/** The webhook with its secret, encrypted; that of the first request where the key comes again. @throws `limit_reached` */
export const createWebhook = (
  db: Db,
  keyed: KeyedRequest | undefined,
  made: NewWebhook,
  body: Body<'webhooks.create'>,
): Promise<CreatedWebhook> =>
  transaction(db, (trx) =>
    answerOnce(trx, keyed, async () => {
      await refuseTooMany(trx, made);
      return { ...toWebhookRecord(await insertWebhook(trx, made, body)), secret: made.secret };
    }),
  );

async function refuseTooMany(trx: Trx, { deployment }: NewWebhook): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${deployment}`}, 0))`.execute(trx);
  const { total } = await countUpTo(trx, trx.selectFrom('webhooks').where('deployment', '=', deployment));
  if (total >= WEBHOOK_LIMITS.perDeployment)
    throw new ServiceError(
      'limit_reached',
      `A deployment may have at most ${WEBHOOK_LIMITS.perDeployment} webhooks.`,
    );
}

export const insertWebhook = (
  db: Db,
  { id, deployment, accountId, secret, head }: NewWebhook,
  { url, events, status }: Body<'webhooks.create'>,
): Promise<WebhookRow> =>
  db
    .insertInto('webhooks')
    .values({
      id,
      deployment,
      account_id: accountId,
      url: new URL(url).href,
      events: jsonOf(events),
      status: status ?? null,
      secret,
      seq: head.seq,
      hash: head.hash,
      head_seq: head.seq,
      // What was committed meanwhile is looked for at once.
      due_at: sql<Date>`now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

const jsonOf = (value: unknown): string | null => (value == null ? null : JSON.stringify(value));

/** What follows from new settings is tried at once: a claim under way ends, and what it has sent meanwhile may be sent again. */
const ANEW = {
  claim: null,
  claimed_until: null,
  due_at: sql<Date>`now()`,
  failures: 0,
  failing_since: null,
  is_slow: false,
  problem: null,
  disabled_at: null,
};

/** @throws `webhook_not_found` */
export async function updateWebhook(
  db: Db,
  { deployment, id }: WebhookKey,
  { url, events, status, isEnabled }: Body<'webhooks.update'>,
): Promise<WebhookRow> {
  return transaction(db, async (trx) => {
    const known = await findWebhook(trx, { deployment, id });
    const isOn = isEnabled ?? known.disabled_at === null;
    const disabled = {
      claim: null,
      claimed_until: null,
      due_at: null,
      disabled_at: known.disabled_at ?? sql<Date>`now()`,
      problem: isEnabled === false ? JSON.stringify(BY_HAND) : jsonOf(known.problem),
    };
    const isOther = events !== undefined || status !== undefined;
    if (isOther) await giveUpOpen(trx, id);
    const row = await trx
      .updateTable('webhooks')
      .set({
        ...(isOther && { open_number: null }),
        ...(isOn ? ANEW : disabled),
        ...(url !== undefined && { url: new URL(url).href }),
        ...(events !== undefined && { events: jsonOf(events) }),
        ...(status !== undefined && { status }),
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw notFound();
    return row;
  });
}

/** What was tried again may not be wanted any more: the next attempt, of whatever entry, is a delivery of its own. */
const giveUpOpen = (trx: Db, id: string) =>
  sql`
    with known as (select id, open_number from webhooks where id = ${id} for update)
    update webhook_deliveries set state = 'failed' from known
    where webhook_id = known.id and number = known.open_number`.execute(trx);

const BY_HAND = { code: 'disabled', detail: 'Its owner has disabled it.' };

/** @throws `webhook_not_found` */
export async function deleteWebhook(db: Db, key: WebhookKey): Promise<void> {
  const { id } = await findWebhook(db, key);
  await db.deleteFrom('webhooks').where('id', '=', id).execute();
}

/** Deployments that are no more have no webhooks. */
export const deleteWebhooksOf = (db: Db, deployments: readonly string[]) =>
  db.deleteFrom('webhooks').where('deployment', 'in', deployments).execute();

/** The deployments that have webhooks. */
export async function deploymentsWithWebhooks(db: Db): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('webhooks').select('deployment').distinct().execute();
  return new Set(rows.map(({ deployment }) => deployment));
}
