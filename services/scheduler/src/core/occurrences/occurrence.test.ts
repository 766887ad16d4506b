import { describe, expect, it } from 'vitest';
import { contentOf, expectedOf, keyOf } from './occurrence.js';

const schedule = {
  input: { n: '{{ counter }}' },
  definition_hash: null,
  cron_state: { counter: 4, scheduledAt: null, result: null },
  deployment: 'd',
  event: 'e',
  world_address: 'w',
  counter: 4,
};

describe('the content of an occurrence', () => {
  it('has the next counter, which the template sees', () => {
    expect(contentOf(schedule, 1000, 2000)).toEqual({ counter: 5, input: { n: 5 }, error: null });
  });

  it('is why the template failed, where it did', () => {
    const { counter, input, error } = contentOf({ ...schedule, input: { n: '{{ 1 / 0 }}' } }, 1000, 2000);
    expect({ counter, input, code: error?.code }).toEqual({
      counter: 5,
      input: null,
      code: 'template_failed',
    });
  });
});

describe('what has to be bound', () => {
  const bound = { binding_id: 3, event_version: 2, version_hash: 'h' };

  it.each([
    [bound, { bindingId: 3, eventVersion: 2, versionHash: 'h' }],
    [
      { ...bound, binding_id: null },
      { eventVersion: 2, versionHash: 'h' },
    ],
    [{ ...bound, event_version: null }, null],
    [{ ...bound, version_hash: null }, null],
  ])('of %j is %j', (row, expected) => {
    expect(expectedOf(row)).toEqual(expected);
  });
});

it('each attempt has a key of its own, by its due time or, on request, by its id', () => {
  const occurrence = { deployment: 'd', event: 'e', id: 7, dueAt: 60_000 };
  const keys = (['due', 'manual'] as const).flatMap((kind) => [
    keyOf({ ...occurrence, kind }, 1),
    keyOf({ ...occurrence, kind }, 2),
    keyOf({ ...occurrence, kind, id: 8 }, 1),
    keyOf({ ...occurrence, kind, dueAt: 120_000 }, 1),
  ]);
  const [due, again, otherId, otherTime, run, runAgain, otherRun, sameRun] = keys;
  expect(otherId).toBe(due);
  expect(sameRun).toBe(run);
  expect(new Set([due, again, otherTime, run, runAgain, otherRun]).size).toBe(6);
});
