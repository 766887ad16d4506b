import type { AiUsage } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Ledger, Payer } from '../../core/prompting/grant.js';
import type { ModelUsage } from '../../core/prompting/model.js';
import type { Db, Trx } from '../tables/schema.js';

/** `2026-11-22`: budget days are UTC. */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

/** The account's US dollars a UTC day; null for no quota. */
export async function quotaOf(db: Db, accountId: number): Promise<number | null> {
  const { rows } = await sql<{ quota: number | null }>`
    select ai_usd_per_day as quota from accounts where account_id = ${accountId}`.execute(db);
  return rows[0]?.quota ?? null;
}

/** Serializes the reservations of an account until the transaction ends. */
export const lockBudgets = (trx: Trx, accountId: number) =>
  sql`select pg_advisory_xact_lock(hashtextextended('runtime.ai-budgets', ${accountId}))`.execute(trx);

interface AccountDay {
  readonly accountId: number;
  readonly day: string;
}

/** What an account has spent and reserved on a day. Reliable after `lockBudgets` in the same transaction. */
export async function readLedger(
  trx: Trx,
  { accountId, day }: AccountDay,
  executionIds: readonly string[],
): Promise<Ledger> {
  const { rows } = await sql<{ deployment_id: number; own: string | null; usd: number }>`
    with costs as (
      select deployment_id, null::uuid as own, usd from ai_usage where account_id = ${accountId} and day = ${day}
      union all
      select deployment_id, case when execution_id = any(${[...executionIds]}::uuid[]) then execution_id end, usd
      from ai_reservations where account_id = ${accountId} and day = ${day} and expires_at > now()
    )
    select deployment_id, own, sum(usd)::float8 as usd from costs group by deployment_id, own`.execute(trx);
  const ofDeployments = new Map<number, number>();
  const own = new Map<string, number>();
  for (const { deployment_id, own: executionId, usd } of rows) {
    ofDeployments.set(deployment_id, (ofDeployments.get(deployment_id) ?? 0) + usd);
    if (executionId !== null) own.set(executionId, usd);
  }
  return { ofDeployments, own };
}

interface NewReservation {
  readonly id: string;
  readonly payer: Payer;
  readonly usd: number;
  /** When it ends by itself, in milliseconds from now. */
  readonly lastsMs: number;
}

/**
 * Each takes the place of an earlier reservation of its execution: its process died, or it has been settled. They end by
 * the clock of the database that all reserve in: processes that follow other databases may have other times.
 */
export async function putReservations(
  trx: Trx,
  { accountId, day }: AccountDay,
  reservations: readonly NewReservation[],
): Promise<void> {
  // One statement cannot write a row twice.
  const latest = new Map(reservations.map((one) => [one.payer.executionId, one]));
  const rows = [...latest.values()].map(({ id, payer: { executionId, deploymentId }, usd, lastsMs }) => ({
    execution_id: executionId,
    id,
    deployment_id: deploymentId,
    usd,
    lasts_ms: lastsMs,
  }));
  await sql`delete from ai_reservations where account_id = ${accountId} and expires_at <= now()`.execute(trx);
  await sql`
    insert into ai_reservations (execution_id, id, deployment_id, account_id, day, usd, expires_at)
    select execution_id, id, deployment_id, ${accountId}, ${day}, usd, now() + lasts_ms * interval '1 millisecond'
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
      execution_id uuid, id uuid, deployment_id bigint, usd numeric, lasts_ms float8
    )
    on conflict (execution_id) do update
      set id = excluded.id, day = excluded.day, usd = excluded.usd, expires_at = excluded.expires_at`.execute(
    trx,
  );
}

/** What one request cost, and the reservation that it ends. */
export interface RequestCost {
  readonly payer: Pick<Payer, 'deploymentId' | 'accountId' | 'event'>;
  readonly reservation: string | null;
  readonly day: string;
  readonly usage: ModelUsage;
}

/** Adds what requests cost, and releases their reservations, in one statement. */
export async function addUsage(db: Db, costs: readonly RequestCost[]): Promise<void> {
  const reservations = costs.flatMap(({ reservation }) => reservation ?? []);
  const rows = costs.map(({ payer, day, usage: { inputTokens, outputTokens, usd } }) => ({
    deployment_id: payer.deploymentId,
    account_id: payer.accountId,
    event: payer.event,
    day,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    usd: usd ?? 0,
  }));
  await sql`
    with released as (delete from ai_reservations where id = any(${reservations}::uuid[])),
      added as (
        select deployment_id, day, event, account_id, count(*) as calls, sum(input_tokens) as input_tokens,
          sum(output_tokens) as output_tokens, sum(usd) as usd
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
          deployment_id bigint, account_id bigint, event text, day date,
          input_tokens bigint, output_tokens bigint, usd numeric
        )
        group by deployment_id, day, event, account_id
      )
    insert into ai_usage as known
      (deployment_id, day, event, account_id, calls, input_tokens, output_tokens, usd)
    select deployment_id, day, event, account_id, calls, input_tokens, output_tokens, usd
    from added order by deployment_id, day, event
    on conflict (deployment_id, day, event) do update
      set calls = known.calls + excluded.calls, input_tokens = known.input_tokens + excluded.input_tokens,
        output_tokens = known.output_tokens + excluded.output_tokens, usd = known.usd + excluded.usd`.execute(
    db,
  );
}

/** What a deployment's requests cost on the days from `from` to `to`. */
export async function readUsage(
  db: Db,
  deploymentId: number,
  from: string,
  to: string,
): Promise<AiUsage['days']> {
  const { rows } = await sql<AiUsage['days'][number]>`
    select day::text as day, event, calls, input_tokens as "inputTokens", output_tokens as "outputTokens",
      usd::float8 as usd
    from ai_usage where deployment_id = ${deploymentId} and day between ${from} and ${to}
    order by day, event`.execute(db);
  return rows;
}
