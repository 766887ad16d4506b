import { createHash } from 'node:crypto';
import type { JournalFact, OnchainFilter } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { headContent, pushContent, renumbered } from './push-content.js';

const entry = {
  deployment: `0x${'5a'.repeat(20)}`,
  id: '0190f3c2-7c1e-7a10-8c00-000000000001',
  seq: 7,
  event: 'race',
  eventVersion: 2,
  inputHash: 'a'.repeat(64),
  hash: 'b'.repeat(64),
  stateChanges: {
    'horse:HORSE_1': { wins: 4, odds: 1.5 },
    'track:T:1': { wins: 9, secret: 'x' },
    'horse:GONE': null,
  },
  result: { winner: 'HORSE_1', purse: 100 },
} as unknown as JournalFact;

const contentOf = (filter: OnchainFilter | null, fact: JournalFact = entry) =>
  JSON.parse(pushContent(fact, 3, filter).text);

describe('the content of a push', () => {
  it('is canonical JSON with its SHA-256', () => {
    const { text, digest } = pushContent(entry, 3, null);
    expect(text.startsWith('{"deployment":"0x5a5a')).toBe(true);
    expect(digest).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('has all changes and the whole result without a filter', () => {
    const { stateChanges, result } = entry;
    const names = {
      event: 'race',
      eventVersion: 2,
      historyId: entry.id,
      seq: 7,
      deployment: entry.deployment,
    };
    const hashes = { inputHash: entry.inputHash, entryHash: entry.hash };
    const whole = { v: 1, number: 3, ...names, ...hashes, stateChanges, result };
    for (const filter of [null, {}, { stateChanges: null, result: null }])
      expect(contentOf(filter)).toEqual(whole);
  });

  it('has only what the filter names', () => {
    expect(contentOf({ stateChanges: ['wins'], result: ['winner', 'absent'] })).toMatchObject({
      stateChanges: { 'horse:HORSE_1': { wins: 4 }, 'track:T:1': { wins: 9 } },
      result: { winner: 'HORSE_1' },
    });
    expect(contentOf({ stateChanges: ['horse.wins'] }).stateChanges).toEqual({
      'horse:HORSE_1': { wins: 4 },
    });
  });

  it('has nothing with an empty filter', () => {
    expect(contentOf({ stateChanges: [], result: [] })).toMatchObject({ stateChanges: {}, result: null });
  });

  it('names nothing of a result that is no object', () => {
    for (const result of ['secret', [1, 2], 5, null])
      expect(contentOf({ result: ['0', 'length'] }, { ...entry, result }).result).toBeNull();
  });

  it('differs by its number alone when it is renumbered', () => {
    const { text } = pushContent(entry, 3, null);
    expect(renumbered(text, 9)).toEqual(pushContent(entry, 9, null));
  });
});

it('the content of a head is what anybody computes from the journal', () => {
  const head = { generation: 2, size: 1100, rootHash: 'c'.repeat(64), entryHash: 'd'.repeat(64) };
  const { text, digest } = headContent(entry.deployment, head, 4);
  expect(text).toBe(
    `{"deployment":"${entry.deployment}","entryHash":"${head.entryHash}","head":{"generation":2,"rootHash":"${head.rootHash}","size":1100},"number":4,"v":1}`,
  );
  expect(digest).toBe(createHash('sha256').update(text).digest('hex'));
  expect(renumbered(text, 5)).toEqual(headContent(entry.deployment, head, 5));
  // It is never cut: the smallest chain takes 566 bytes.
  const largest = { ...head, generation: Number.MAX_SAFE_INTEGER, size: Number.MAX_SAFE_INTEGER };
  expect(headContent(entry.deployment, largest, Number.MAX_SAFE_INTEGER).text.length).toBeLessThan(566);
});
