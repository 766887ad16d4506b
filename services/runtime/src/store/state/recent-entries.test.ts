import { type HistorySearch, isRemembered, MEMORY_REACH, memoryOf, type PastEntry } from '@orrery/deciding';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRecentEntries } from './instance-memory.js';

const entryAt = (seq: number, event: string, horse: string): PastEntry => ({
  seq,
  kind: event === 'manual' ? 'instance_updated' : 'execution',
  event: event === 'manual' ? null : event,
  status: 'succeeded',
  trigger: 'admin',
  caller: 'account:1',
  executedAt: '2026-11-26T12:00:00.000Z',
  input: { seq },
  changes: [
    { entitySchema: 'horse', instanceId: horse, op: 'update', set: { wins: seq }, unset: [], revision: seq },
  ],
  result: null,
  error: null,
});

/** What the whole journal says. */
const searched = (journal: readonly PastEntry[], search: HistorySearch) =>
  journal
    .filter(({ seq }) => seq > journal.length - MEMORY_REACH)
    .filter((entry) => isRemembered(entry, search))
    .reverse()
    .slice(0, search.last)
    .map(memoryOf);

const searches: fc.Arbitrary<HistorySearch> = fc.record(
  {
    last: fc.integer({ min: 1, max: 5 }),
    events: fc.subarray(['race', 'talk'], { minLength: 1 }),
    instances: fc.subarray(['horse:A', 'horse:B'], { minLength: 1 }),
  },
  { requiredKeys: ['last'] },
);
const steps = fc.array(
  fc.oneof(
    fc.record({ event: fc.constantFrom('race', 'talk', 'manual'), horse: fc.constantFrom('A', 'B') }),
    fc.record({ search: searches, committed: fc.integer({ min: 0, max: 3 }) }),
  ),
  { maxLength: 60 },
);

it('finds what the whole journal says, whatever is committed when it is read', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 300 }), (taken, before) => {
      const journal = Array.from({ length: before }, (_, at) => entryAt(at + 1, 'race', at % 2 ? 'A' : 'B'));
      const recent = createRecentEntries();
      for (const step of taken) {
        if ('event' in step) {
          journal.push(entryAt(journal.length + 1, step.event, step.horse));
          recent.add(journal.at(-1) as PastEntry);
          continue;
        }
        recent.start(journal.length);
        // The last entries are in a commit that is under way: a read does not see them.
        const durable = journal.slice(0, Math.max(0, journal.length - step.committed));
        if (recent.find(step.search) === undefined) {
          const rows = durable.filter((entry) => isRemembered(entry, step.search)).reverse();
          recent.learn(step.search, durable.length, rows.slice(0, step.search.last));
        }
        const found = recent.find(step.search);
        if (found !== undefined) expect(found).toEqual(searched(journal, step.search));
        else expect(step.committed).toBeGreaterThan(0);
      }
    }),
  );
});

it('holds nothing until history is read, and a bounded number of entries from then on', () => {
  const recent = createRecentEntries();
  recent.add(entryAt(1, 'race', 'A'));
  expect(recent.bytes()).toBe(0);
  expect(recent.find({ last: 1 })).toBeUndefined();
  recent.start(1);
  recent.learn({ last: 3 }, 1, [entryAt(1, 'race', 'A')]);
  expect(recent.find({ last: 3 })).toHaveLength(1);
  for (let seq = 2; seq < 2000; seq += 1) recent.add(entryAt(seq, 'race', 'A'));
  // It was found too long ago, so it is read again.
  expect(recent.find({ last: 3 })).toBeUndefined();
});

it('has what a replay remembers until the fork executes another entry, which has to be read', () => {
  const recent = createRecentEntries();
  const search = { last: 3, replays: { deploymentId: 7, seq: 120 } };
  recent.start(4);
  const read = [entryAt(119, 'race', 'A'), entryAt(118, 'talk', 'A')];
  recent.learn(search, 4, read);
  recent.add(entryAt(5, 'manual', 'A'));
  expect(recent.find(search)).toEqual(read.map(memoryOf));
  recent.add(entryAt(6, 'race', 'A'));
  expect(recent.find(search)).toBeUndefined();
  // What was read before that is committed does not count.
  recent.learn(search, 5, read);
  expect(recent.find(search)).toBeUndefined();
  recent.learn(search, 6, [...read, entryAt(117, 'race', 'A')]);
  expect(recent.find(search)).toHaveLength(3);
});
