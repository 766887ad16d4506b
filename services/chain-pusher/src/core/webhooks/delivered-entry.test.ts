import type { JournalFact } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { deliveredEntry, isWanted } from './delivered-entry.js';

const fact = {
  v: 1,
  deployment: `0x${'5a'.repeat(20)}`,
  id: 'entry-1',
  seq: 3,
  kind: 'execution',
  event: 'race',
  status: 'succeeded',
  input: { winner: 'A' },
  result: { winner: 'A' },
  hash: 'a'.repeat(64),
  prevHash: 'b'.repeat(64),
  executedAt: '2026-11-21T09:30:00.000Z',
  worldAddress: `0x${'1a'.repeat(20)}`,
  inputHash: 'c'.repeat(64),
  binding: { targetChains: ['local'], onchain: null },
} as unknown as JournalFact;

describe('deliveredEntry', () => {
  it('holds what readers of the live stream see', () => {
    const { body } = deliveredEntry(fact);
    const { worldAddress, inputHash, binding, ...seen } = fact;
    expect(JSON.parse(body)).toEqual(seen);
  });

  it('leaves out the settings in the input of what is no execution', () => {
    const { body } = deliveredEntry({ ...fact, kind: 'tail_lost', event: null, status: null });
    expect(JSON.parse(body)).not.toHaveProperty('input');
  });
});

describe('isWanted', () => {
  const all = { events: null, status: null };
  const entry = deliveredEntry(fact);

  it.each([
    [all, true],
    [{ ...all, events: ['race'] }, true],
    [{ ...all, events: ['sale', 'race'] }, true],
    [{ ...all, events: ['sale'] }, false],
    [{ ...all, status: 'succeeded' as const }, true],
    [{ ...all, status: 'failed' as const }, false],
    [{ events: ['race'], status: 'failed' as const }, false],
  ])('by %j: %s', (filter, expected) => expect(isWanted(entry, filter)).toBe(expected));

  it('wants no entry of another kind but the one that says what was lost', () => {
    expect(isWanted({ ...entry, kind: 'instance_updated', event: null }, all)).toBe(false);
    expect(isWanted({ ...entry, kind: 'tail_lost', event: null }, { ...all, events: ['sale'] })).toBe(true);
  });
});
