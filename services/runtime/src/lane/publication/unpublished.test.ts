import type { JournalFact, JsonText } from '@orrery/contracts';
import { type JournalEntryDraft, noChanges, sealEntry } from '@orrery/deciding';
import { FakeClock } from '@orrery/testing';
import { expect, test, vi } from 'vitest';
import type { Batch } from '../../store/commit/batch.js';
import type { EntryPlace } from '../../store/journal/journal-store.js';
import { type RecentLimits, Unpublished } from './unpublished.js';

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
  decidedAt: '2026-11-21T09:30:00.000Z',
  evaluator: 1,
});

/** A batch of one deployment; all that publication reads of it. */
const batchOf = (first: number, ids: string, input: JournalEntryDraft['input'] = {}, deployment = 1) =>
  ({
    deployments: new Map([[deployment, { row: { address: `0x${deployment}`, world_address: '0xworld' } }]]),
    entries: [...ids].map((id, index) => ({
      deploymentId: deployment,
      entry: sealEntry(draftOf(id, input), {
        ...{ v: 2, at: '2026-11-21T09:30:00.000Z', seq: first + index, prevHash: 'b'.repeat(64) },
      }),
      effects: {},
      trace: `trace ${id}`,
    })),
  }) as unknown as Batch;

const journal = (published: number, head: number, deploymentId = 1) => ({
  deploymentId,
  address: `0x${deploymentId}`,
  worldAddress: '0xworld',
  published,
  head,
});

const setUp = (limits?: RecentLimits) => {
  const load = vi.fn(async (places: readonly EntryPlace[]) =>
    places.map((place) => ({
      ...place,
      fact: { id: `read ${place.seq}`, deployment: `0x${place.deploymentId}` } as JournalFact,
    })),
  );
  const clock = new FakeClock();
  const unpublished = new Unpublished(load, clock, limits);
  /** Publishes what waits; answers the ids of the messages, and the numbers of those that were read from the journal. */
  const publish = async (limit = 100) => {
    load.mockClear();
    const { messages, more } = await unpublished.oldest(limit, []);
    await unpublished.remove(messages);
    const read = load.mock.calls.flatMap(([places]) => places.map(({ seq }) => seq));
    return { ids: messages.map(({ messageId }) => messageId), read, more, messages };
  };
  return { unpublished, publish, load, clock };
};

test('what was committed is published from memory, with its trace, and noted as one range', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(7, 'ab'));
  unpublished.committed(batchOf(9, 'c'));
  const { ids, read, messages } = await publish();
  expect([ids, read]).toEqual([['a', 'b', 'c'], []]);
  expect(messages[0]).toMatchObject({ orderingKey: `0x${'4f'.repeat(20)}`, trace: 'trace a' });
  expect(JSON.parse(String((messages[0]?.payload as JsonText | undefined)?.text))).toMatchObject({
    id: 'a',
    worldAddress: '0xworld',
    binding: null,
  });
  expect(unpublished.ranges()).toEqual([{ deploymentId: 1, first: 7, last: 9 }]);
  expect((await publish()).ids).toEqual([]);
});

test('what is not in memory is read from the journal: it was found there, or there was no room', async () => {
  const { unpublished, publish } = setUp({ maxEntries: 2, maxBytes: 1_000_000 });
  unpublished.found(journal(3, 5));
  unpublished.committed(batchOf(6, 'abc'));
  const { ids, read } = await publish();
  expect(ids).toEqual(['read 4', 'read 5', 'read 6', 'b', 'c']);
  expect(read).toEqual([4, 5, 6]);
  expect(unpublished.ranges()).toEqual([{ deploymentId: 1, first: 4, last: 8 }]);
});

test('of more bytes than there is room for the oldest entries go', async () => {
  const large = { text: 'x'.repeat(20_000) };
  const { unpublished, publish } = setUp({ maxEntries: 100, maxBytes: 200_000 });
  unpublished.committed(batchOf(1, 'abcd', large));
  expect((await publish()).ids).toEqual(['read 1', 'read 2', 'c', 'd']);
});

test('what could not be published comes again, from the journal', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(1, 'ab'));
  const { messages } = await unpublished.oldest(100, []);
  await unpublished.remove(messages.slice(0, 1));
  expect((await publish()).ids).toEqual(['read 2']);
  unpublished.committed(batchOf(3, 'c'));
  expect((await unpublished.oldest(100, ['0x1'])).messages).toEqual([]);
});

test('a journal with more than fits into a batch goes behind the others', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(1, 'abc'));
  unpublished.committed(batchOf(1, 'z', {}, 2));
  expect(await publish(2)).toMatchObject({ ids: ['a', 'b'], more: true });
  expect(await publish(2)).toMatchObject({ ids: ['z', 'c'], more: false });
});

test('many entries of the journal are read a part at a time', async () => {
  const { unpublished, publish } = setUp();
  unpublished.found(journal(0, 100));
  expect(await publish()).toMatchObject({ ids: { length: 64 }, more: true });
  expect(await publish()).toMatchObject({ ids: { length: 36 }, more: false });
});

test('a journal whose end was lost begins again at what took its place', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(4, 'ab'));
  await publish();
  unpublished.committed(batchOf(5, 'x'));
  expect((await publish()).ids).toEqual(['x']);
  expect(unpublished.ranges()).toEqual([{ deploymentId: 1, first: 5, last: 5 }]);
});

test('an entry that the journal does not have is not waited for', async () => {
  const { unpublished, publish, load } = setUp();
  unpublished.found(journal(0, 2));
  load.mockResolvedValueOnce([]);
  expect((await publish()).ids).toEqual([]);
  expect((await publish()).ids).toEqual([]);
});

test('what is published and not noted is not published again when the journal is found', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(4, 'ab'));
  await publish();
  unpublished.found(journal(3, 5));
  expect((await publish()).ids).toEqual([]);
  unpublished.found(journal(3, 6));
  expect((await publish()).ids).toEqual(['read 6']);
});

test('a range that was noted is forgotten, and one that went on meanwhile shortened', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(1, 'ab'));
  unpublished.committed(batchOf(1, 'z', {}, 2));
  await publish();
  const noted = unpublished.ranges();
  unpublished.committed(batchOf(3, 'c'));
  await publish();
  unpublished.noted(noted, [journal(0, 3)]);
  expect(unpublished.ranges()).toEqual([
    { deploymentId: 1, first: 3, last: 3 },
    { deploymentId: 2, first: 1, last: 1 },
  ]);
  unpublished.noted(unpublished.ranges(), [journal(2, 3), journal(0, 1, 2)]);
  expect(unpublished.ranges()).toEqual([]);
});

test('a range after a gap waits, and what is in the gap is published in the end', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(2, 'b'));
  await publish();
  for (let round = 0; round < 3; round++) unpublished.noted(unpublished.ranges(), [journal(0, 2)]);
  expect((await publish()).ids).toEqual([]);
  unpublished.noted(unpublished.ranges(), [journal(0, 2)]);
  expect((await publish()).ids).toEqual(['read 1', 'read 2']);
  unpublished.noted(unpublished.ranges(), [journal(0, 2)]);
  expect(unpublished.ranges()).toEqual([]);
});

test('a range that the journal has lost is forgotten', async () => {
  const { unpublished, publish } = setUp();
  unpublished.committed(batchOf(4, 'ab'));
  await publish();
  unpublished.noted(unpublished.ranges(), [journal(3, 3)]);
  expect(unpublished.ranges()).toEqual([]);
});

test('it says for how long the oldest has waited', async () => {
  const { unpublished, publish, clock } = setUp();
  expect(unpublished.waitingMs).toBe(0);
  unpublished.committed(batchOf(1, 'a'));
  await clock.advance(300);
  unpublished.committed(batchOf(1, 'z', {}, 2));
  expect(unpublished.waitingMs).toBe(300);
  await publish();
  expect(unpublished.waitingMs).toBe(0);
});
