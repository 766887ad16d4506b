import { sql } from 'kysely';
import { PUSHES_PER_TRANSACTION, withinBytes } from '../../core/pushes/batch.js';
import { waitForQuota, withinQuota } from '../accounts/account-store.js';
import { freeNonces, type NonceTerms } from '../submissions/nonces.js';
import type { Lane, Trx } from '../tables/schema.js';

interface LaneRow {
  deployment: string;
  sent_number: number;
  last_number: number;
  failures: number;
  account_id: number | null;
}

/**
 * Makes submissions of what waits in these lanes, which were compared with the chain: consecutive pushes of one lane, each
 * submission under a nonce of its own.
 */
export async function claimBatches(
  trx: Trx,
  terms: NonceTerms,
  deployments: readonly string[],
): Promise<void> {
  const nonces = await freeNonces(trx, terms);
  const { rows } = await sql<LaneRow>`
    select lanes.deployment, sent_number, last_number, failures, account_id
    from lanes left join deployments on deployments.address = lanes.deployment
    where chain = ${terms.chain} and lanes.deployment = any(${[...deployments]})
      and sent_number < last_number and stop is null and (wait_until is null or wait_until <= now())
      and not exists (select from attempts
        where attempts.deployment = lanes.deployment and attempts.chain = lanes.chain and state = 'open')
    order by wait_until nulls first for update of lanes`.execute(trx);
  for (const lane of rows) await claimBatch(trx, terms, lane, nonces);
}

async function claimBatch(trx: Trx, terms: NonceTerms, lane: LaneRow, nonces: () => number | null) {
  const { deployment, sent_number: sent, last_number: last, failures } = lane;
  const { chain, signer } = terms;
  const { rows } = await sql<{ number: number; bytes: number; isNew: boolean; isRead: boolean }>`
    select number, case when truncated then 0 else octet_length(content) end as bytes, attempt_id is null as "isNew",
      digest <> '' as "isRead"
    from pushes where deployment = ${deployment} and chain = ${chain} and number > ${sent} and number <= ${last}
    order by number limit ${failures > 0 ? 1 : PUSHES_PER_TRANSACTION}`.execute(trx);
  const unread = rows.findIndex(({ isRead }) => !isRead);
  if (unread === 0) return waitForHead(trx, { deployment, chain });
  const known = unread < 0 ? rows : rows.slice(0, unread);
  const allowed = await withinQuota(trx, lane.account_id, withinBytes(known));
  const end = allowed.at(-1);
  if (end === undefined) return waitForQuota(trx, { deployment, chain }, lane.account_id);
  const { id } = await trx
    .insertInto('attempts')
    .values({ chain, signer, nonce: nonces(), deployment, from_number: sent + 1, to_number: end.number })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    update pushes set attempt_id = ${id}
    where deployment = ${deployment} and chain = ${chain} and number > ${sent} and number <= ${end.number}`.execute(
    trx,
  );
  // The time of its turn puts it behind the lanes that wait.
  await sql`
    update lanes set sent_number = ${end.number}, waits_for = null, wait_until = now()
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
}

/** What comes next is a head that the runtime was not asked for yet, or did not tell: the lane goes on once it is read. */
async function waitForHead(trx: Trx, { deployment, chain }: Lane): Promise<void> {
  await sql`
    update lanes set waits_for = 'head_unread', wait_until = now() + interval '15 seconds'
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
}
