import { expect, it } from 'vitest';
import type { Occurrence } from '../api/records.js';
import { kindWords, outcomeTone, outcomeWords, reasonWords } from './ledger-words.js';

const fired: Occurrence = {
  id: 1,
  kind: 'due',
  dueAt: '2026-11-22T10:00:00.000Z',
  until: null,
  count: 1,
  status: 'fired',
  reason: null,
  eventVersion: 1,
  counter: 1,
  attempts: 1,
  outcome: 'succeeded',
  historyId: 'x',
  seq: 4,
  error: null,
  startedAt: '2026-11-22T10:00:00.000Z',
  endedAt: '2026-11-22T10:00:00.000Z',
};

it.each<[Partial<Occurrence>, string, string]>([
  [{}, 'succeeded', 'ok'],
  [{ outcome: 'failed' }, 'failed', 'bad'],
  [{ status: 'running', outcome: null }, 'running', 'accent'],
  [{ status: 'skipped', outcome: null }, 'skipped', 'warn'],
  [{ status: 'missed', outcome: null }, 'missed', 'warn'],
  [{ status: 'paused', kind: 'pause', outcome: null }, 'pause', 'plain'],
])('says of %o that it %s', (row, words, tone) => {
  expect(outcomeWords({ ...fired, ...row })).toBe(words);
  expect(outcomeTone({ ...fired, ...row })).toBe(tone);
});

it('says what a row stands for', () => {
  expect(kindWords(fired)).toBeUndefined();
  expect(kindWords({ ...fired, kind: 'manual' })).toBe('run on request');
  expect(kindWords({ ...fired, kind: 'span', count: 4182 })).toBe('4,182 due times');
});

it('puts reasons in words, and keeps one that it does not know', () => {
  expect(reasonWords('downtime')).toBe('no scheduler ran when it was due');
  expect(reasonWords('eclipse')).toBe('eclipse');
});
