import { JsonText } from '@orrery/contracts';
import type { OutboxRow } from '@orrery/database';
import { expect, test } from 'vitest';
import { noChanges } from '../../core/deciding/check-changes.js';
import { type JournalEntryDraft, sealEntry } from '../../core/entries/entry.js';
import type { Batch } from '../../store/commit/batch.js';
import { createRecentEntries, type RecentLimits, recentFacts } from './publication.js';

const draftOf = (id: string, input: JournalEntryDraft['input']): JournalEntryDraft => ({
  deployment: `0x${'4f'.repeat(20)}`,
  id,
  kind: 'execution',
  event: 'race',
  eventVersion: 3,
  versionHash: 'a'.repeat(64),
  trigger: 'admin',
  caller: 'account:7',
  status: 'succeeded',
  input,
  changes: noChanges(),
  result: null,
  error: null,
  llmHash: null,
  attestation: null,
  paymentKey: null,
  executedAt: '2026-11-21T09:30:00.000Z',
});

/** A batch of one deployment; all that the memory reads of it. */
const batchOf = (ids: readonly string[], input: JournalEntryDraft['input'] = {}) =>
  ({
    deployments: new Map([[1, { row: { world_address: '0xworld' } }]]),
    entries: ids.map((id) => ({
      deploymentId: 1,
      entry: sealEntry(draftOf(id, input), { seq: 1, prevHash: 'b'.repeat(64) }),
      effects: {},
    })),
  }) as unknown as Batch;

const ample: RecentLimits = { maxEntries: 100, maxBytes: 1_000_000 };
const kept = (limits: RecentLimits, ...batches: Batch[]) => {
  const recent = createRecentEntries(limits);
  for (const batch of batches) recent.add(batch);
  return recent;
};
const taken = (recent: ReturnType<typeof kept>, ids: string) =>
  [...ids].filter((id) => recent.take(id) !== undefined).join('');

test('of more entries than there is room for the oldest go', () => {
  const limits = { ...ample, maxEntries: 3 };
  expect(taken(kept(limits, batchOf(['a', 'b', 'c']), batchOf(['d', 'e'])), 'abcde')).toBe('cde');
  expect(taken(kept(limits, batchOf([...'abcdefg'])), 'abcdefg')).toBe('efg');
});

test('so they do of more bytes', () => {
  const large = { text: 'x'.repeat(20_000) };
  const limits = { ...ample, maxBytes: 200_000 };
  expect(taken(kept(limits, batchOf([...'abcd'], large)), 'abcd')).toBe('cd');
  expect(taken(kept(limits, batchOf([...'ab']), batchOf(['c'], { text: 'x'.repeat(60_000) })), 'abc')).toBe(
    '',
  );
});

test('what is taken is gone and leaves its room', () => {
  const recent = kept(
    { maxEntries: 2, maxBytes: 200_000 },
    batchOf(['a', 'b'], { text: 'x'.repeat(20_000) }),
  );
  expect(taken(recent, 'aa')).toBe('a');
  for (let round = 0; round < 20; round++) {
    recent.add(batchOf(['c'], { text: 'x'.repeat(20_000) }));
    expect(taken(recent, 'c')).toBe('c');
  }
  expect(taken(recent, 'b')).toBe('b');
});

test('only what is not in memory is read, and it all when it is asked for again', async () => {
  const recent = kept(ample, batchOf(['a', 'b']));
  const asked: string[] = [];
  const load = async (rows: readonly OutboxRow[]) => {
    asked.push(rows.map(({ messageId }) => messageId).join(''));
    return new Map(rows.map(({ id }) => [id, new JsonText('"read"')]));
  };
  const rows = [...'abc'].map((messageId, id) => ({ id, messageId }) as OutboxRow);
  const facts = await recentFacts(recent, rows, load);
  expect([...facts.keys()].sort()).toEqual([0, 1, 2]);
  expect(JSON.parse(facts.get(1)?.text ?? '')).toMatchObject({
    id: 'b',
    worldAddress: '0xworld',
    binding: null,
  });
  expect(facts.get(2)?.text).toBe('"read"');
  await recentFacts(recent, rows, load);
  expect(asked).toEqual(['c', 'abc']);
  await recentFacts(kept(ample, batchOf(['a', 'b', 'c'])), rows, load);
  expect(asked).toHaveLength(2);
});
