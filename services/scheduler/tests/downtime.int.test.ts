import type { Database } from '@orrery/database';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { claimDue } from '../src/store/occurrences/claim-due.js';
import type { SchedulerSchema } from '../src/store/tables/schema.js';
import { ownDatabase } from './own-database.js';

const NOW = Date.UTC(2030, 5, 2, 12);
const DAY = 24 * 60 * 60_000;
const COUNT = 150;
/** All of them take far longer than a step may, and one by far does not. */
const DAYS = 30;

let database: Database<SchedulerSchema>;
beforeEach(async () => {
  database = await ownDatabase();
});

/** Schedules that are due every minute in a time zone, and were decided last so many days ago. */
const plantBehind = (days: number) =>
  sql`
  insert into schedules (deployment, world_id, world_address, event, schedule, timezone, next_at, decided_until)
  select 'deployment ' || n, 1, 'world', 'train', '* * * * *', 'Europe/Vienna',
    ${new Date(NOW - days * DAY)}::timestamptz + n * interval '1 minute', ${new Date(NOW - days * DAY)}
  from generate_series(1, ${COUNT}) n`.execute(database.db);

it('is caught up with in several steps where that takes long', async () => {
  await plantBehind(DAYS);
  let [due, calls, isMore] = [0, 0, true];
  for (; isMore; calls += 1) {
    const claimed = await claimDue(database.db, NOW, 500, 1);
    due += claimed.due;
    isMore = claimed.isMore;
  }
  expect(due).toBe(COUNT);
  expect(calls).toBeGreaterThan(1);
  const { rows } = await sql`
    select status, sum(count)::int as count from occurrences group by status order by status`.execute(
    database.db,
  );
  expect(rows).toEqual([
    // Each but the first minutes of the later ones, up to the one that runs.
    { status: 'missed', count: COUNT * DAYS * 24 * 60 - (COUNT * (COUNT + 1)) / 2 },
    { status: 'running', count: COUNT },
  ]);
});

it('of years is caught up with where nothing was due for months at its end, and keeps nothing else from running', async () => {
  const now = Date.UTC(2030, 11, 30, 12);
  const before = Date.UTC(2028, 11, 30, 12);
  await sql`
    insert into schedules (deployment, world_id, world_address, event, schedule, timezone, next_at, decided_until) values
      ('away', 1, 'world', 'train', '* * * 1-6 *', 'Europe/Vienna', '2028-12-31T23:00:00Z', ${new Date(before)}),
      ('present', 1, 'world', 'train', '0 12 * * *', null, ${new Date(now)}, ${new Date(now - DAY)})`.execute(
    database.db,
  );
  let isMore = true;
  while (isMore) ({ isMore } = await claimDue(database.db, now, 500));
  const { rows } = await sql`
    select s.deployment, o.status, o.kind, sum(o.count)::int as count, max(coalesce(o.until, o.due_at)) as last
    from occurrences o join schedules s on s.id = o.schedule_id
    group by s.deployment, o.status, o.kind order by 1, 3`.execute(database.db);
  const minutes = 2 * 181 * 24 * 60 - 2 * 60;
  expect(rows).toEqual([
    {
      deployment: 'away',
      status: 'missed',
      kind: 'due',
      count: 100,
      last: new Date('2030-06-30T21:59:00Z'),
    },
    {
      deployment: 'away',
      status: 'missed',
      kind: 'span',
      count: minutes - 100,
      last: new Date('2030-06-30T20:19:00Z'),
    },
    { deployment: 'present', status: 'running', kind: 'due', count: 1, last: new Date(now) },
  ]);
});
