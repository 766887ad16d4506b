import { query } from '@orrery/testing/servers';

interface Totals {
  /** Due times that the ledgers account for. */
  readonly due: number;
  readonly fired: number;
  readonly skipped: number;
  readonly missed: number;
}

export interface LedgerReport extends Totals {
  /** Due times that were executed more than once, by the journals. */
  readonly duplicates: number;
  /** What contradicts invariants 11 and 12; empty when all is well. */
  readonly violations: readonly string[];
}

/**
 * Compares the ledgers of schedules that are due every minute with themselves and with the journals: each due time from
 * the first to the last that is decided has one row, unless it lies in a pause; each fired one has one entry, and each
 * entry of a schedule one row. Nothing is executed that was not bound, or while it was paused.
 */
export async function findScheduleViolations(databaseUrl: string): Promise<LedgerReport> {
  const [totals = { due: 0, fired: 0, skipped: 0, missed: 0 }] = await query<Totals>(databaseUrl, TOTALS);
  const duplicates = (await query(databaseUrl, DUPLICATES)).length;
  const violations: string[] = [];
  for (const [what, text] of Object.entries(VIOLATIONS)) {
    const rows = await query<{ found: string }>(databaseUrl, text);
    violations.push(...rows.slice(0, 5).map(({ found }) => `${what}: ${found}`));
  }
  return { ...totals, duplicates, violations };
}

const TOTALS = `
  select coalesce(sum(count), 0)::int as due, coalesce(sum(count) filter (where status = 'fired'), 0)::int as fired,
    coalesce(sum(count) filter (where status = 'skipped'), 0)::int as skipped,
    coalesce(sum(count) filter (where status = 'missed'), 0)::int as missed
  from scheduler.occurrences where kind in ('due', 'span')`;

const DUPLICATES = `
  select deployment_id from runtime.journal where trigger = 'cron' and status = 'succeeded'
  group by deployment_id, input->>'due' having count(*) > 1`;

/** Full minutes up to a time. */
const minutesTo = (time: string) => `floor(extract(epoch from ${time}) / 60)`;

const COVERED = `
  select s.id, s.deployment, sum(o.count) as rows, count(*) filter (where o.status = 'running') as running,
    ${minutesTo('s.decided_until')} - ${minutesTo('min(o.due_at)')} + 1 - coalesce((
      select sum(${minutesTo('least(p.until, s.decided_until)')} - ${minutesTo('p.due_at')}) from scheduler.occurrences p
      where p.schedule_id = s.id and p.kind = 'pause' and p.due_at >= min(o.due_at)
    ), 0) as due
  from scheduler.schedules s join scheduler.occurrences o on o.schedule_id = s.id and o.kind in ('due', 'span')
  group by s.id`;

/** The executions of schedules. */
const RAN = `
  select j.*, d.address from runtime.journal j join runtime.deployments d on d.id = j.deployment_id
  where j.kind = 'execution' and j.trigger = 'cron'`;

/** Each answers what it finds as `found`. */
const VIOLATIONS = {
  'a due time has no row, or two': `
    select deployment || ': ' || rows || ' rows for ' || due || ' due times' as found
    from (${COVERED}) c where rows <> due`,
  'an occurrence never ended': `
    select deployment || ': ' || running as found from (${COVERED}) c where running > 0`,
  'a fired occurrence has no entry of its own': `
    select o.due_at || ' of ' || s.deployment as found
    from scheduler.occurrences o join scheduler.schedules s on s.id = o.schedule_id
    left join runtime.journal j on j.id = o.history_id::uuid
    where o.kind = 'due' and o.status = 'fired' and o.outcome = 'succeeded'
      and (j.id is null or (j.input->>'due')::timestamptz <> o.due_at or (j.input->>'lap')::bigint <> o.counter)`,
  'an entry has no fired occurrence': `
    select j.seq || ' of ' || d.address as found
    from runtime.journal j join runtime.deployments d on d.id = j.deployment_id
    left join scheduler.occurrences o on o.history_id = j.id::text and o.status = 'fired'
    where j.trigger = 'cron' and j.status = 'succeeded' and o.id is null`,
  'a counter is missing or doubled': `
    select s.deployment || ': ' || count(*) || ' fired, counter ' || s.counter as found
    from scheduler.schedules s join scheduler.occurrences o on o.schedule_id = s.id
    where o.kind = 'due' and o.status = 'fired' group by s.id
    having count(*) <> s.counter or count(distinct o.counter) <> s.counter`,
  'an occurrence was fired early': `
    select o.due_at || ' of ' || s.deployment as found
    from scheduler.occurrences o join scheduler.schedules s on s.id = o.schedule_id
    where o.kind = 'due' and o.started_at < o.due_at`,
  'an old version was executed': `
    select ran.seq || ' of ' || ran.address || ': version ' || ran.event_version as found
    from (${RAN}) ran cross join lateral (
      select (b->>'eventVersion')::integer as version
      from runtime.journal j cross join jsonb_array_elements(j.input->'bindings') b
      where j.deployment_id = ran.deployment_id and j.seq < ran.seq
        and j.kind in ('deployment_created', 'bindings_added', 'bindings_updated') and b->>'event' = ran.event
      order by j.seq desc limit 1
    ) bound where bound.version <> ran.event_version`,
  'the ledger has another version than the journal': `
    select o.due_at || ' of ' || ran.address as found
    from (${RAN}) ran join scheduler.occurrences o on o.history_id = ran.id::text
    where o.event_version <> ran.event_version`,
  'it was executed while its deployment was paused': `
    select ran.seq || ' of ' || ran.address as found
    from (${RAN}) ran cross join lateral (
      select j.kind from runtime.journal j
      where j.deployment_id = ran.deployment_id and j.seq < ran.seq and j.kind in ('paused', 'resumed')
      order by j.seq desc limit 1
    ) turned where turned.kind = 'paused'`,
  'a due time lies in a pause': `
    select o.due_at || ' of ' || s.deployment as found
    from scheduler.occurrences o join scheduler.schedules s on s.id = o.schedule_id
    join scheduler.occurrences p on p.schedule_id = o.schedule_id and p.kind = 'pause'
      and o.due_at > p.due_at and o.due_at <= coalesce(p.until, 'infinity')
    where o.kind in ('due', 'span')`,
  'two pauses overlap': `
    select p.due_at || ' of ' || s.deployment as found
    from scheduler.occurrences p join scheduler.schedules s on s.id = p.schedule_id
    join scheduler.occurrences other on other.schedule_id = p.schedule_id and other.kind = 'pause'
      and (other.due_at, other.id) > (p.due_at, p.id) and other.due_at < coalesce(p.until, 'infinity')
    where p.kind = 'pause'`,
} as const;
