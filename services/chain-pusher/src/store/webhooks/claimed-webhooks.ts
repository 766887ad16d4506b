import type { JournalHead } from '@orrery/contracts';
import { type Selectable, sql } from 'kysely';
import type { AfterAttempt, Attempt } from '../../core/webhooks/after-attempt.js';
import type { DeliveredEntry } from '../../core/webhooks/delivered-entry.js';
import type { ChainPusherSchema, Db } from '../tables/schema.js';
import { pruneFor } from './prune-deliveries.js';

/** A webhook that this process delivers to, until its claim ends. */
export interface ClaimedWebhook
  extends Pick<
    Selectable<ChainPusherSchema['webhooks']>,
    'id' | 'deployment' | 'account_id' | 'url' | 'events' | 'status' | 'secret' | 'is_slow'
  > {
  readonly claim: string;
  /** Null unless it signs still. */
  readonly old_secret: string | null;
  seq: number;
  hash: string | null;
  failures: number;
  /** Milliseconds. */
  failing_ms: number;
  readonly due_at: Date;
}

/** A claim that is not renewed for so long has ended, in seconds: more than an attempt and what is around it may take. */
const CLAIM_SECONDS = 30;

/** Whose account the operator has disabled waits. */
const isAllowed = sql`not exists (select from accounts where accounts.account_id = webhooks.account_id and disabled)`;

/** How many are claimed at most, and of which accounts none are; null: of those whose account is not known. */
export interface ClaimBounds {
  readonly most: number;
  readonly crowded: readonly (number | null)[];
}

/** Accounts are numbered from 1. */
const NO_ACCOUNT = 0;

/** @param account a column */
export const isNotCrowded = (account: string, { crowded }: ClaimBounds) =>
  sql`coalesce(${sql.ref(account)}, ${NO_ACCOUNT}) <> all(cast(${crowded.map((one) => one ?? NO_ACCOUNT)} as bigint[]))`;

/** By which webhooks are due, in milliseconds. */
export async function databaseTime(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  return rows[0]?.now.getTime() ?? 0;
}

/**
 * Those that have waited longest, each for this process alone. @param isSlow of which kind
 * @param dueSince those that were due earlier are not looked at, by the database's clock
 */
export async function claimWebhooks(
  db: Db,
  isSlow: boolean,
  bounds: ClaimBounds,
  dueSince?: Date,
): Promise<ClaimedWebhook[]> {
  const { rows } = await sql<ClaimedWebhook>`
    update webhooks set claim = gen_random_uuid(), claimed_until = now() + ${CLAIM_SECONDS} * interval '1 second'
    from (
      select id from webhooks
      where is_slow = ${isSlow} and due_at <= now() and disabled_at is null
        and due_at >= coalesce(${dueSince ?? null}::timestamptz, '-infinity')
        and (claimed_until is null or claimed_until < now()) and ${isAllowed}
        and ${isNotCrowded('webhooks.account_id', bounds)}
      order by due_at limit ${bounds.most} for update skip locked
    ) due
    where webhooks.id = due.id
    returning webhooks.id, deployment, account_id, url, events, status, secret, is_slow, claim, seq, hash, failures,
      case when old_secret_until > now() then old_secret end as old_secret,
      coalesce(extract(epoch from now() - failing_since) * 1000, 0)::float8 as failing_ms, due_at`.execute(
    db,
  );
  return rows;
}

/** Their journals have grown. Those that are tried again later wait on. */
export const markDue = (db: Db, deployments: readonly string[]) =>
  sql`
    update webhooks set due_at = now()
    where deployment = any(${deployments}) and due_at is null and disabled_at is null`.execute(db);

/** Records what an attempt came to, unless the claim has ended: then it may be sent again. Resolves with whether it holds. */
export async function recordAttempt(
  db: Db,
  { id, claim }: ClaimedWebhook,
  sent: Sent,
  { attempt, after, head, isSlow }: Outcome,
): Promise<boolean> {
  const status = attempt.status ?? null;
  const problem = after.step === 'delivered' ? null : JSON.stringify(after.problem);
  const state = { delivered: 'delivered', retry: 'retrying', disable: 'failed' }[after.step];
  const { rows } = await sql`
    with moved as (
      update webhooks set
        ${after.step === 'delivered' ? delivered(sent) : failed(after, sent)},
        problem = ${problem}::jsonb, is_slow = ${isSlow}, head_seq = greatest(${head}::bigint, ${sent.seq}::bigint),
        last_number = last_number + (open_number is null)::int
      where id = ${id} and claim = ${claim}
      returning id, coalesce((select known.open_number from webhooks known where known.id = ${id}), last_number) as number
    ), pruned as (${pruneFor(id, sql`(select number from moved)`)})
    insert into webhook_deliveries as known (webhook_id, number, kind, history_id, seq, event, state, attempts,
      response_status, problem, duration_ms, attempted_at)
    select id, number, 'entry', ${sent.historyId}::uuid, ${sent.seq}::bigint, ${sent.event}::text, ${state}, 1,
      ${status}::int, ${problem}::jsonb, ${Math.round(attempt.durationMs)}::int, now()
    from moved
    on conflict (webhook_id, number) do update set history_id = excluded.history_id, seq = excluded.seq,
      event = excluded.event, state = excluded.state, attempts = known.attempts + 1,
      response_status = excluded.response_status, problem = excluded.problem, duration_ms = excluded.duration_ms,
      attempted_at = excluded.attempted_at
    returning number`.execute(db);
  return rows.length > 0;
}

/** What an attempt was of: an entry, or, where `historyId` is null, that entries from a number on are lost. */
export interface Sent extends Pick<DeliveredEntry, 'seq' | 'event' | 'executedAt'> {
  readonly historyId: string | null;
  /** The entry that the webhook is done with once it is taken. */
  readonly position: { readonly seq: number; readonly hash: string | null };
}

export interface Outcome {
  readonly attempt: Attempt;
  readonly after: AfterAttempt;
  /** The last entry of the journal, as far as known. */
  readonly head: number;
  /** Whether it shares the room of those that fail or take long from now on. */
  readonly isSlow: boolean;
}

const renewed = sql`claimed_until = now() + ${CLAIM_SECONDS} * interval '1 second'`;

const delivered = ({ position: { seq, hash } }: Sent) => sql`
  seq = ${seq}, hash = ${hash}, failures = 0, failing_since = null, waiting_since = null, open_number = null, ${renewed}`;

const failed = (after: Exclude<AfterAttempt, { step: 'delivered' }>, { executedAt }: Sent) => sql`
  failures = failures + 1, failing_since = coalesce(failing_since, now()), waiting_since = ${executedAt}::timestamptz,
  open_number = coalesce(open_number, last_number + 1), claim = null, claimed_until = null,
  ${
    after.step === 'retry'
      ? sql`due_at = now() + ${after.delayMs} * interval '1 millisecond'`
      : sql`due_at = null, disabled_at = now()`
  }`;

/** Goes on after an entry without sending it: it is not wanted, or lost. What was tried again is given up. */
export async function moveTo(
  db: Db,
  { id, claim }: ClaimedWebhook,
  { seq, hash }: Pick<DeliveredEntry, 'seq'> & { hash: string | null },
  head: number,
): Promise<boolean> {
  const { rows } = await sql`
    with known as (select id, open_number from webhooks where id = ${id} and claim = ${claim} for update),
      given_up as (
        update webhook_deliveries set state = 'failed' from known
        where webhook_id = known.id and number = known.open_number
      )
    update webhooks set seq = ${seq}, hash = ${hash}, head_seq = greatest(${head}::bigint, ${seq}::bigint), failures = 0,
      failing_since = null, waiting_since = null, problem = null, open_number = null, ${renewed}
    from known where webhooks.id = known.id
    returning webhooks.id`.execute(db);
  return rows.length > 0;
}

/** Ends a claim. `restMs`: null where nothing is left of the journal; else it waits so long, and behind those that are due. */
export const endClaim = (db: Db, { id, claim }: ClaimedWebhook, restMs: number | null) =>
  sql`
    update webhooks set claim = null, claimed_until = null, due_at = now() + ${restMs}::float8 * interval '1 millisecond'
    where id = ${id} and claim = ${claim}`.execute(db);

/** Of these journals, by their heads, those with a webhook that is behind, or ahead since entries were lost, and that waits for nothing. */
export async function markBehind(db: Db, heads: readonly JournalHead[]): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhooks set head_seq = heads.seq, due_at = coalesce(due_at, now())
    from jsonb_to_recordset(${JSON.stringify(heads)}::jsonb) as heads (deployment text, seq bigint, hash text)
    where webhooks.deployment = heads.deployment and disabled_at is null
      and (webhooks.seq <> heads.seq or webhooks.hash <> heads.hash) and (due_at is null or head_seq <> heads.seq)`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}

export interface WebhookBacklog {
  /** Entries after the positions of those that are not disabled. */
  readonly entries: number;
  /** Age of the oldest entry that is tried again, in seconds. */
  readonly seconds: number;
  readonly retrying: number;
  readonly disabled: number;
}

export async function webhookBacklog(db: Db): Promise<WebhookBacklog> {
  const { rows } = await sql<WebhookBacklog>`
    select coalesce(sum(greatest(head_seq - seq, 0)) filter (where disabled_at is null), 0)::float8 as entries,
      coalesce(extract(epoch from now() - min(waiting_since) filter (where disabled_at is null)), 0)::float8 as seconds,
      count(*) filter (where failures > 0 and disabled_at is null)::float8 as retrying,
      count(*) filter (where disabled_at is not null)::float8 as disabled
    from webhooks`.execute(db);
  return rows[0] ?? { entries: 0, seconds: 0, retrying: 0, disabled: 0 };
}
