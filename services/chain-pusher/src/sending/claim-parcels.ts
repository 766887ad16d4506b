import { sql } from 'kysely';
import { PUSHES_PER_TRANSACTION } from '../chains/chain-port.js';
import type { Trx } from '../database/schema.js';

/** Bytes of contents that one transaction carries at most; one push always fits. */
const PARCEL_BYTES = 24 * 1024;

/** Nonces that are filled in one round. */
const MAX_FILLED = 16;

export interface ClaimTerms {
  readonly chain: string;
  readonly signer: string;
  /** Lanes that were compared with the chain. */
  readonly deployments: readonly string[];
  /** The first nonce that the chain has not used; null where there are none. */
  readonly nonce: number | null;
}

interface LaneRow {
  deployment: string;
  sent_number: number;
  failures: number;
  account_id: number | null;
}

/** Lanes with work, longest without a turn first. None of them has an attempt open, so a lane's order is the chain's. */
export async function lanesWithWork(
  db: Pick<Trx, 'getExecutor'>,
  chain: string,
  limit: number,
): Promise<{ deployment: string; sent: number }[]> {
  const { rows } = await sql<{ deployment: string; sent: number }>`
    select deployment, sent_number as sent from lanes
    where chain = ${chain} and sent_number < last_number and stop is null and (wait_until is null or wait_until <= now())
      and not exists (select from attempts
        where attempts.deployment = lanes.deployment and attempts.chain = lanes.chain and state = 'open')
    order by wait_until nulls first limit ${limit}`.execute(db as Trx);
  return rows;
}

/** Lets a lane that cannot be compared with the chain wait, behind those that can. */
export const putBack = (trx: Trx, deployment: string, chain: string, pauseMs: number) =>
  sql`
    update lanes set waits_for = 'not_compared', wait_until = now() + ${pauseMs} * interval '1 millisecond'
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);

/** Makes attempts of what waits in these lanes: consecutive pushes of one lane, each attempt under a nonce of its own. */
export async function claimParcels(trx: Trx, terms: ClaimTerms): Promise<void> {
  const nonces = await freeNonces(trx, terms);
  const { rows } = await sql<LaneRow>`
    select lanes.deployment, sent_number, failures, account_id
    from lanes left join deployments on deployments.address = lanes.deployment
    where chain = ${terms.chain} and lanes.deployment = any(${[...terms.deployments]})
      and sent_number < last_number and stop is null and (wait_until is null or wait_until <= now())
      and not exists (select from attempts
        where attempts.deployment = lanes.deployment and attempts.chain = lanes.chain and state = 'open')
    order by wait_until nulls first for update of lanes`.execute(trx);
  for (const lane of rows) await claimParcel(trx, terms, lane, nonces);
}

async function claimParcel(trx: Trx, terms: ClaimTerms, lane: LaneRow, nonces: () => number | null) {
  const { deployment, sent_number: sent, failures } = lane;
  const { chain, signer } = terms;
  const { rows } = await sql<{ number: number; bytes: number; isNew: boolean }>`
    select number, case when truncated then 0 else octet_length(content) end as bytes, attempt_id is null as "isNew"
    from pushes where deployment = ${deployment} and chain = ${chain} and number > ${sent}
    order by number limit ${failures > 0 ? 1 : PUSHES_PER_TRANSACTION}`.execute(trx);
  const allowed = await withinQuota(trx, lane, withinBytes(rows));
  const last = allowed.at(-1);
  if (last === undefined) {
    await sql`
      update lanes set waits_for = 'quota_exceeded',
        wait_until = (date_trunc('day', now() at time zone 'utc') + interval '1 day') at time zone 'utc'
      where deployment = ${deployment} and chain = ${chain}`.execute(trx);
    return;
  }
  const attempt = await trx
    .insertInto('attempts')
    .values({ chain, signer, nonce: nonces(), deployment, from_number: sent + 1, to_number: last.number })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    update pushes set attempt_id = ${attempt.id}
    where deployment = ${deployment} and chain = ${chain} and number > ${sent} and number <= ${last.number}`.execute(
    trx,
  );
  // The time of its turn puts it behind the lanes that wait.
  await sql`
    update lanes set sent_number = ${last.number}, waits_for = null, wait_until = now()
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);
}

function withinBytes<Row extends { bytes: number }>(rows: readonly Row[]): Row[] {
  let bytes = 0;
  return rows.filter(({ bytes: own }, at) => {
    bytes += own;
    return at === 0 || bytes <= PARCEL_BYTES;
  });
}

/**
 * The first ones that the account may still push in this UTC day; they are counted. One that was sent before counts no
 * more. An account without a quota is not counted.
 */
async function withinQuota<Row extends { isNew: boolean }>(
  trx: Trx,
  { account_id: account }: LaneRow,
  rows: Row[],
): Promise<Row[]> {
  const wanted = rows.filter(({ isNew }) => isNew).length;
  if (account === null || wanted === 0) return rows;
  const { rows: granted } = await sql<{ before: number; pushes: number }>`
    with quota as (select pushes_per_day as most from accounts where account_id = ${account} and pushes_per_day is not null),
      used as (
        insert into push_usage as known (account_id, day, pushes)
        select ${account}, (now() at time zone 'utc')::date, 0 from quota
        on conflict (account_id, day) do update set pushes = known.pushes
        returning pushes as before
      )
    select before, greatest(0, least(${wanted}, most - before))::int as pushes from used, quota`.execute(trx);
  const [grant] = granted;
  if (grant === undefined) return rows;
  let left = grant.pushes;
  const kept: Row[] = [];
  for (const row of rows) {
    if (row.isNew && left === 0) break;
    if (row.isNew) left -= 1;
    kept.push(row);
  }
  await sql`
    update push_usage set pushes = pushes + ${grant.pushes - left}
    where account_id = ${account} and day = (now() at time zone 'utc')::date`.execute(trx);
  return kept;
}

/**
 * Makes attempts without pushes of the nonces below an open one that no attempt has: nothing above such a gap would ever be
 * in a block. `mayFill` tells of which.
 */
export async function fillGaps(
  trx: Trx,
  { chain, signer, nonce }: Omit<ClaimTerms, 'deployments'>,
  mayFill: (nonce: number) => boolean,
): Promise<void> {
  if (nonce === null) return;
  const { rows } = await sql<{ highest: number | null }>`
    select max(nonce) as highest from attempts
    where chain = ${chain} and signer = ${signer} and nonce >= ${nonce} and state = 'open'`.execute(trx);
  const highest = rows[0]?.highest ?? nonce;
  const next = await freeNonces(trx, { chain, signer, nonce });
  for (let count = 0; count < MAX_FILLED; count += 1) {
    const free = next();
    if (free === null || free >= highest) return;
    if (!mayFill(free)) continue;
    const values = { chain, signer, nonce: free, deployment: '', from_number: 1, to_number: 0 };
    await trx.insertInto('attempts').values(values).execute();
  }
}

/**
 * Gives the nonces from the chain's count on that no attempt under way has. A nonce whose attempt is over is given again;
 * so one that was dropped leaves no gap, and what others sent for the signer is passed over.
 */
async function freeNonces(
  trx: Trx,
  { chain, signer, nonce }: Omit<ClaimTerms, 'deployments'>,
): Promise<() => number | null> {
  if (nonce === null) return () => null;
  const { rows } = await sql<{ nonce: number }>`
    select nonce from attempts where chain = ${chain} and signer = ${signer} and nonce >= ${nonce}
      and state in ('open', 'included', 'confirmed')`.execute(trx);
  const used = new Set(rows.map((row) => row.nonce));
  let next = nonce;
  return () => {
    while (used.has(next)) next += 1;
    next += 1;
    return next - 1;
  };
}
