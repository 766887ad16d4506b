import {
  type DeploymentOverview,
  MOST_CODES,
  MOST_EVENTS,
  MOST_EVENTS_OF_CODE,
  OVERVIEW_SPANS,
  ServiceError,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Clock, createSemaphore } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db, Trx } from '../tables/schema.js';

/** Rows of each kind are kept for this many steps more than an overview shows. */
const KEPT_LONGER = 2;

/** Latencies are counted in classes, each so many times as long as the one before: a quantile is right to half of that. */
const CLASS_RATIO = 1.2;
/** The class of what has no latency. */
const NO_LATENCY = -1000;

/** Entries that one transaction counts: texts of models are read with their costs. */
const ENTRIES_AT_ONCE = 5000;
/** How long one call counts, in milliseconds. */
const COUNTING_MS = 1000;
/** Deployments that are counted at once, and calls that wait for their turn: further ones see what is counted. */
const COUNTED_AT_ONCE = 2;
const MAX_WAITING = 20;

/**
 * Counts the executions of a deployment up to entry `head`, where its journal ends, or as far as it gets within a second:
 * the next call, of any process, goes on from there. Executions older than an overview shows are left out.
 */
export type CountActivity = (deploymentId: number, head: number, signal: AbortSignal) => Promise<void>;

export function createActivity(db: Db, clock: Clock): CountActivity {
  const counting = createSemaphore(COUNTED_AT_ONCE, { maxWaiting: MAX_WAITING, maxWaitMs: COUNTING_MS });
  const count = async (deploymentId: number, head: number, signal: AbortSignal) => {
    const enough = clock.monotonic() + COUNTING_MS;
    for (let done = -1; done < head && clock.monotonic() < enough; ) {
      signal.throwIfAborted();
      done = await transaction(db, (trx) => countNext(trx, deploymentId, head, clock.now()), { signal });
    }
  };
  return (deploymentId, head, signal) =>
    counting
      .run(signal, () => count(deploymentId, head, signal))
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError && error.code === 'overloaded')) throw error;
      });
}

/** The last entry that is counted. */
export async function countedTo(db: Db, deploymentId: number): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select seq from activity_heads where deployment_id = ${deploymentId}`.execute(db);
  return rows[0]?.seq ?? 0;
}

/** The row of the head is locked, so that one process at a time counts a deployment's. */
async function countNext(trx: Trx, deploymentId: number, head: number, now: number): Promise<number> {
  await sql`insert into activity_heads (deployment_id, seq) values (${deploymentId}, 0) on conflict do nothing`.execute(
    trx,
  );
  const { rows } = await sql<{ seq: number }>`
    select seq from activity_heads where deployment_id = ${deploymentId} for update`.execute(trx);
  const before = rows[0]?.seq ?? 0;
  if (before >= head) return before;
  const isFarBehind = head - before > ENTRIES_AT_ONCE;
  const kinds = kindsAt(now);
  const after = isFarBehind ? await lastOld(trx, deploymentId, before, head, kinds) : before;
  const until = Math.min(after + ENTRIES_AT_ONCE, head);
  await dropOld(trx, deploymentId, kinds);
  await addEntries(trx, deploymentId, after, until, kinds);
  await sql`update activity_heads set seq = ${until} where deployment_id = ${deploymentId}`.execute(trx);
  return until;
}

/** The kinds of rows: how many seconds one covers, and since when they are kept. */
interface Kind {
  readonly step: number;
  readonly since: number;
}

const kindsAt = (now: number): Kind[] =>
  Object.values(OVERVIEW_SPANS).map(({ stepSeconds: step, steps }) => ({
    step,
    since: Math.floor(now / 1000) - (steps + KEPT_LONGER) * step,
  }));

const kindsTable = (kinds: readonly Kind[]) =>
  sql`(values ${sql.join(kinds.map(({ step, since }) => sql`(${step}::integer, ${since}::bigint)`))}) k (step, since)`;

/** The last entry that no overview counts any more: times never fall within a journal, so it is found by halving. */
async function lastOld(trx: Trx, deploymentId: number, after: number, head: number, kinds: readonly Kind[]) {
  const since = Math.min(...kinds.map((kind) => kind.since));
  const { rows } = await sql<{ seq: number }>`
    with recursive search (low, high) as (
      select ${after}::bigint, ${head}::bigint
      union all
      select case when j.is_old then s.middle else s.low end, case when j.is_old then s.high else s.middle - 1 end
      from (select low, high, (low + high + 1) / 2 as middle from search where low < high) s
      cross join lateral (
        select executed_at < to_timestamp(${since}::bigint) as is_old
        from journal where deployment_id = ${deploymentId} and seq = s.middle
      ) j
    )
    select max(low)::float8 as seq from search`.execute(trx);
  return rows[0]?.seq ?? after;
}

const dropOld = (trx: Trx, deploymentId: number, kinds: readonly Kind[]) =>
  sql`
    delete from activity a using ${kindsTable(kinds)}
    where a.deployment_id = ${deploymentId} and a.step = k.step and a.at < k.since`.execute(trx);

const addEntries = (trx: Trx, deploymentId: number, after: number, until: number, kinds: readonly Kind[]) =>
  sql`
    with entry as materialized (
      select extract(epoch from executed_at)::float8 as time, event,
        case status when 'failed' then coalesce(error ->> 'code', 'internal') else '' end as outcome,
        case when duration_ms is null then ${NO_LATENCY}
          else round(ln(greatest(duration_ms, 0.1)) / ln(${CLASS_RATIO}::float8)) end as latency,
        case when llm is not null then (select sum(usd::float8) from (
          select llm #> '{usage,usd}' as usd
          union all select one #> '{usage,usd}' from jsonb_path_query(llm, '$.earlier[*]') one
        ) costs where jsonb_typeof(usd) = 'number') end as usd
      from journal
      where deployment_id = ${deploymentId} and seq > ${after} and seq <= ${until} and kind = 'execution'
    )
    insert into activity as known (deployment_id, step, at, event, outcome, latency, executions, usd)
    select ${deploymentId}, k.step, floor(e.time / k.step) * k.step, e.event, e.outcome, e.latency, count(*), sum(e.usd)
    from entry e join ${kindsTable(kinds)} on e.time >= k.since
    group by k.step, floor(e.time / k.step) * k.step, e.event, e.outcome, e.latency
    on conflict (deployment_id, step, at, event, outcome, latency) do update
      set executions = known.executions + excluded.executions,
        usd = case when known.usd is null then excluded.usd else known.usd + coalesce(excluded.usd, 0) end`.execute(
    trx,
  );

export interface CountedStep {
  /** In seconds since 1970. */
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface Activity extends Pick<DeploymentOverview, 'events' | 'failures'> {
  /** Those with an execution. */
  readonly steps: CountedStep[];
}

/** What is counted of a deployment in steps of so many seconds, from a time on, in seconds since 1970. */
export async function readActivity(
  db: Db,
  deploymentId: number,
  { step, from }: { readonly step: number; readonly from: number },
): Promise<Activity> {
  const counted = sql`activity where deployment_id = ${deploymentId} and step = ${step} and at >= ${from}`;
  const outcomes = sql`coalesce(sum(executions) filter (where outcome = ''), 0)::float8 as succeeded,
    coalesce(sum(executions) filter (where outcome <> ''), 0)::float8 as failed`;
  const quantile = (part: number) => sql`
    power(${CLASS_RATIO}::float8, min(latency) filter (where reached >= known * ${part}::float8))`;
  const [steps, events, failures] = await Promise.all([
    sql<CountedStep>`select at::float8 as at, ${outcomes} from ${counted} group by at order by at`.execute(
      db,
    ),
    sql<Activity['events'][number]>`
      with ranked as (
        select event, outcome, latency, executions, usd,
          sum(executions) filter (where latency <> ${NO_LATENCY}) over (partition by event order by latency) as reached,
          sum(executions) filter (where latency <> ${NO_LATENCY}) over (partition by event) as known
        from ${counted}
      )
      select event, ${outcomes}, ${quantile(0.5)} as "medianMs", ${quantile(0.95)} as "p95Ms", sum(usd) as usd
      from ranked group by event order by sum(executions) desc, event limit ${MOST_EVENTS}`.execute(db),
    sql<Activity['failures'][number]>`
      select outcome as code, sum(executions)::float8 as count,
        (array_agg(distinct event))[1:${sql.lit(MOST_EVENTS_OF_CODE)}] as events
      from ${counted} and outcome <> ''
      group by outcome order by sum(executions) desc, outcome limit ${MOST_CODES}`.execute(db),
  ]);
  return { steps: steps.rows, events: events.rows, failures: failures.rows };
}
