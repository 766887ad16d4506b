import { jsonb } from '@orrery/database';
import { nextDue } from '@orrery/expressions';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { claimDue } from '../src/store/occurrences/claim-due.js';
import { ownDatabase } from './own-database.js';

const NOW = Date.UTC(2030, 5, 2, 12);
const COUNT = 24;

/** Takes many milliseconds to compile. */
const expression = Array.from({ length: 90 }, () => 'counter').join(' + ');
const large = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n}`, `{{ ${expression} }}`]));

it('schedules whose inputs take long to make are claimed in several steps, each of them once', async () => {
  const { db } = await ownDatabase();
  await sql`
    insert into schedules (deployment, world_id, world_address, event, schedule, definition_hash, input, next_at, decided_until)
    select 'deployment ' || n, 1, 'world', 'train', '* * * * *', 'large ' || n, ${jsonb(large)},
      ${new Date(NOW)}, ${new Date(NOW)}
    from generate_series(1, ${COUNT}) n`.execute(db);
  // The first calculation of a process takes long by itself.
  nextDue({ schedule: '* * * * *' }, 0);
  const taken: string[] = [];
  let [calls, isMore] = [0, true];
  for (; isMore; calls += 1) {
    const claimed = await claimDue(db, NOW, 500, 1);
    taken.push(...claimed.occurrences.map(({ deployment, input }) => `${deployment} ${input?.['n39']}`));
    isMore = claimed.isMore;
  }
  expect(new Set(taken).size).toBe(COUNT);
  expect(taken).toContain('deployment 1 90');
  expect(calls).toBeGreaterThan(1);
});
