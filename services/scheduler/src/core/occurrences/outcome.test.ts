import { expect, it } from 'vitest';
import type { ClaimedOccurrence } from './occurrence.js';
import { outcomeOf } from './outcome.js';

const occurrence: ClaimedOccurrence = {
  id: 1,
  scheduleId: 2,
  deployment: 'd',
  event: 'e',
  kind: 'due',
  dueAt: 60_000,
  versionId: 3,
  counter: 4,
  attempt: 1,
  repeats: 0,
  input: {},
  expected: null,
  error: null,
  failed: null,
};
const error = { code: 'model_failed', detail: 'no' };
const entry = { historyId: 'h', seq: 9 };
const none = { historyId: null, seq: null, error: null, result: null, reason: null };
const ended = { id: 1, scheduleId: 2, attempt: 1, attempts: 1, scheduledAt: '1970-01-01T00:01:00.000Z' };
const fired = { ...ended, ...none, status: 'fired', outcome: 'failed' };
const internal = { code: 'internal', detail: 'The runtime could not execute it.' };

it.each([
  ['succeeded', { kind: 'succeeded', ...entry, result: 5 }, { outcome: 'succeeded', ...entry, result: 5 }],
  ['failed', { kind: 'failed', error, entry }, { error, ...entry }],
  ['was refused', { kind: 'failed', error, entry: null }, { error }],
  ['was never answered', { kind: 'unknown', error: undefined }, { error: internal }],
] as const)('an occurrence that %s has fired', (_what, sent, outcome) => {
  expect(outcomeOf(occurrence, sent)).toEqual({ ...fired, ...outcome });
});

it('one that is not executed is skipped, unless an attempt before has failed', () => {
  const skip = { kind: 'skipped', reason: 'unbound' } as const;
  expect(outcomeOf(occurrence, skip)).toEqual({
    ...ended,
    ...none,
    status: 'skipped',
    reason: 'unbound',
    outcome: null,
  });
  const failed = { error, entry };
  const second = { ...occurrence, attempt: 2, failed };
  expect(outcomeOf(second, skip)).toEqual({ ...fired, attempt: 2, error, ...entry });
});
