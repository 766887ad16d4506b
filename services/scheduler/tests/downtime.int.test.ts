import { connect, type Database, migrate } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { sql } from 'kysely';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { claimDue } from '../src/store/occurrences/claim-due.js';
import { migrations } from '../src/store/tables/migrations/index.js';
import type { SchedulerSchema } from '../src/store/tables/schema.js';

const NOW = Date.UTC(2030, 5, 2, 12);
const DAY = 24 * 60 * 60_000;
const COUNT = 150;
/** All of them take far longer than a step may, and one by far does not. */
const DAYS = 30;

let database: Database<SchedulerSchema>;
beforeEach(async () => {
  const { url } = await createTestDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const connection = { url, schema: 'scheduler', applicationName: 'test', clock: systemClock, logger };
  database = await connect<SchedulerSchema>(connection);
  onTestFinished(() => database.close());
  await migrate({ database, migrations, logger });
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
    const claimed = await claimDue(database.db, NOW, 500, 50);
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
