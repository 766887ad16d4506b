import { ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { Seal } from '../../core/webhooks/seal.js';
import type { Db, Trx } from '../tables/schema.js';
import { findWebhook, NO_ID, notFound, type WebhookKey, type WebhookRow } from './webhook-store.js';

type Secrets = Pick<WebhookRow, 'id' | 'secret' | 'old_secret'>;

/** The secret before signs too, for so many seconds, unless no key opens it. @throws `webhook_not_found`, `limit_reached` */
export const replaceSecret = (
  db: Db,
  seal: Seal,
  key: WebhookKey,
  secret: string,
  graceSeconds: number,
): Promise<WebhookRow> =>
  transaction(db, async (trx) => {
    const { id } = await findWebhook(trx, key);
    const kept = graceSeconds > 0 ? await presentSecret(trx, seal, id) : null;
    const { rows } = await sql<WebhookRow>`
      update webhooks set
        old_secret = ${kept},
        old_secret_until = case when ${kept !== null}::boolean then now() + ${graceSeconds} * interval '1 second' end,
        secret = ${secret}, claim = null, claimed_until = null, updated_at = now()
      where id = ${id} returning *`.execute(trx);
    const [row] = rows;
    if (row === undefined) throw notFound();
    return row;
  });

/**
 * The secret that is to sign on; null where no key opens it. While the one before it signs there may be receivers that know
 * no other. @throws `limit_reached`
 */
async function presentSecret(trx: Trx, seal: Seal, id: string): Promise<string | null> {
  const { rows } = await sql<{ secret: string; until: Date | null }>`
    select secret, case when old_secret_until > now() then old_secret_until end as until
    from webhooks where id = ${id} for update`.execute(trx);
  const [row] = rows;
  if (row === undefined || seal.open(row.secret, id) === undefined) return null;
  if (row.until !== null) throw twoSign(row.until);
  return row.secret;
}

const twoSign = (until: Date) =>
  new ServiceError(
    'limit_reached',
    `Deliveries are signed with two secrets until ${until.toISOString()}. Replace the secret after that, or now with ` +
      'graceSeconds=0, which ends both.',
    { facts: { until: until.toISOString() } },
  );

/** Secrets that are looked at in one transaction. */
const RESEALED = 100;

/** Encrypts secrets with the first key that another one has closed. Resolves with the number of webhooks that it changed. */
export async function reseal(db: Db, seal: Seal): Promise<number> {
  await forgetOld(db);
  let changed = 0;
  for (let after: string | undefined = NO_ID; after !== undefined; ) {
    const page = await resealAfter(db, seal, after);
    changed += page.changed;
    after = page.last;
  }
  return changed;
}

/** What signs no longer. */
const forgetOld = (db: Db) =>
  sql`update webhooks set old_secret = null, old_secret_until = null where old_secret_until <= now()`.execute(
    db,
  );

/** A page in the order of ids: what no key opens is passed over, and keeps nothing else from being reached. */
const resealAfter = (
  db: Db,
  seal: Seal,
  after: string,
): Promise<{ readonly changed: number; readonly last: string | undefined }> =>
  transaction(db, async (trx) => {
    const { rows } = await sql<Secrets>`
      select id, secret, old_secret from webhooks
      where id > ${after} and (not starts_with(secret, ${seal.current}) or not starts_with(old_secret, ${seal.current}))
      order by id limit ${RESEALED} for update skip locked`.execute(trx);
    let changed = 0;
    for (const row of rows) if (await resealed(trx, seal, row)) changed += 1;
    return { changed, last: rows.length < RESEALED ? undefined : rows.at(-1)?.id };
  });

/** Resolves with whether anything changed. */
async function resealed(trx: Trx, seal: Seal, { id, secret, old_secret: old }: Secrets): Promise<boolean> {
  // What no key opens stays as it is: the key may come back.
  const again = (text: string): string => {
    const opened = text.startsWith(seal.current) ? undefined : seal.open(text, id);
    return opened === undefined ? text : seal.close(opened, id);
  };
  const next = { secret: again(secret), old_secret: old === null ? null : again(old) };
  if (next.secret === secret && next.old_secret === old) return false;
  await trx.updateTable('webhooks').set(next).where('id', '=', id).execute();
  return true;
}
