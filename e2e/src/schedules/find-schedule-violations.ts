import { Client } from 'pg';

export interface LedgerReport {
  /** Due times that the ledgers account for. */
  readonly due: number;
  readonly fired: number;
  readonly skipped: number;
  readonly missed: number;
  /** Due times that were executed more than once, by the journals. */
  readonly duplicates: number;
  /** What contradicts invariants 11 and 12; empty when all is well. */
  readonly violations: readonly string[];
}

/**
 * Compares the ledgers of schedules that are due every minute with themselves and with the journals: each due time from
 * the first to the last that is decided has one row, each fired one has one entry, and each entry of a schedule one row.
 */
export async function findScheduleViolations(databaseUrl: string): Promise<LedgerReport> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const totals = await one<Record<'due' | 'fired' | 'skipped' | 'missed', number>>(
      client,
      `select coalesce(sum(count), 0)::int as due, coalesce(sum(count) filter (where status = 'fired'), 0)::int as fired,
         coalesce(sum(count) filter (where status = 'skipped'), 0)::int as skipped,
         coalesce(sum(count) filter (where status = 'missed'), 0)::int as missed
       from scheduler.occurrences where kind in ('due', 'span')`,
    );
    const { n: duplicates } = await one<{ n: number }>(
      client,
      `select count(*)::int as n from (
         select from runtime.journal where trigger = 'cron' and status = 'succeeded'
         group by deployment_id, input->>'due' having count(*) > 1) d`,
    );
    const violations: string[] = [];
    for (const [what, query] of Object.entries(VIOLATIONS)) {
      const { rows } = await client.query<{ found: string }>(query);
      violations.push(...rows.slice(0, 5).map(({ found }) => `${what}: ${found}`));
    }
    return { ...totals, duplicates, violations };
  } finally {
    await client.end();
  }
}

async function one<T>(client: Client, query: string): Promise<T> {
  const { rows } = await client.query(query);
  return rows[0] as T;
}

const COVERED = `
  select s.id, s.deployment, s.decided_until, min(o.due_at) as first, sum(o.count) as rows,
    count(*) filter (where o.status = 'running') as running
  from scheduler.schedules s join scheduler.occurrences o on o.schedule_id = s.id and o.kind in ('due', 'span')
  group by s.id`;

/** Each answers what it finds as `found`. */
const VIOLATIONS = {
  'a due time has no row, or two': `
    select deployment || ': ' || rows || ' rows for '
      || round(extract(epoch from decided_until - first) / 60 + 1) || ' due times' as found
    from (${COVERED}) c where rows <> round(extract(epoch from decided_until - first) / 60 + 1)`,
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
} as const;
