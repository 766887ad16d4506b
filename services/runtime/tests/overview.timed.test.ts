import { OVERVIEW_SPANS } from '@orrery/contracts';
import { startPace } from '@orrery/contracts/test-support';
import { systemClock } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { countedTo, createActivity, readActivity } from '../src/store/journal/activity.js';
import { openRuntimeDatabase, plantDeployment } from './journal-fixture.js';
import { plantMany } from './plant-many.js';

const ENTRIES = 300_000;
const EVENTS = 20;
const db = await openRuntimeDatabase();
const { signal } = new AbortController();

/** A month of executions of many events, with latencies of all sizes, of which every fiftieth failed. */
async function plantMonth() {
  const race = await plantDeployment(db);
  await plantMany(
    db,
    race.id,
    ENTRIES,
    (n) => sql`now() - (${ENTRIES} - ${n}) * interval '30 days' / ${ENTRIES}`,
    EVENTS,
  );
  return race.id;
}

it('a month of a busy deployment is counted in calls of a second, and then read in a moment', async () => {
  const id = await plantMonth();
  const count = createActivity(db, systemClock);
  using pace = startPace();
  const calls: number[] = [];
  while ((await countedTo(db, id)) < ENTRIES) {
    const begun = performance.now();
    await count(id, ENTRIES, signal);
    calls.push(performance.now() - begun);
  }
  const read: Record<string, number> = {};
  for (const [span, { stepSeconds: step, steps }] of Object.entries(OVERVIEW_SPANS)) {
    const from = Math.floor(Date.now() / 1000 / step) * step - (steps - 1) * step;
    const times: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const begun = performance.now();
      const { events } = await readActivity(db, id, { step, from });
      times.push(performance.now() - begun);
      if (span === 'month') expect(events).toHaveLength(EVENTS);
    }
    read[span] = Math.min(...times);
  }
  process.stdout.write(
    `counted ${ENTRIES} in ${Math.round(calls.reduce((a, b) => a + b))} ms, ${calls.length} calls; read ${JSON.stringify(read)}\n`,
  );
  // The transaction under way at the end of the second goes on.
  expect(Math.max(...calls)).toBeLessThan(5000 * pace.slowness());
  expect(Math.max(...Object.values(read))).toBeLessThan(1000 * pace.slowness());
});
