import { expect, it } from 'vitest';
import type { JournalEntry } from './entry-words.js';
import { historyFilter, passes } from './queries.js';

const entry = (parts: Partial<JournalEntry>) =>
  ({ kind: 'execution', event: 'race', status: 'succeeded', stateChanges: {}, ...parts }) as JournalEntry;

it('the whole journal needs no filter, all changes of an instance are in the whole journal', () => {
  expect(historyFilter({ seq: 3 })).toBeUndefined();
  expect(historyFilter({ entries: 'executions' })).toEqual({});
  expect(historyFilter({ entries: 'failed', event: 'race' })).toEqual({ status: 'failed', event: 'race' });
  expect(historyFilter({ instance: 'horse:A' })).toEqual({ include: 'all', instance: 'horse:A' });
  expect(historyFilter({ instance: 'horse:A', entries: 'executions' })).toEqual({ instance: 'horse:A' });
});

it('entries that come pass the filter as those that are read', () => {
  const failed = entry({ status: 'failed' });
  const write = entry({
    kind: 'instance_updated',
    event: null,
    status: null,
    stateChanges: { 'horse:A': {} },
  });
  expect([failed, write, entry({})].map((one) => passes({ entries: 'failed' }, one))).toEqual([
    true,
    false,
    false,
  ]);
  expect([failed, write].map((one) => passes({ entries: 'executions' }, one))).toEqual([true, false]);
  expect([failed, write].map((one) => passes({ instance: 'horse:A' }, one))).toEqual([false, true]);
  expect([failed, write].map((one) => passes({ event: 'race' }, one))).toEqual([true, false]);
});
