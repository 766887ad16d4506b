import { canonicalHash, ServiceError } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { historySearch, isRemembered, memoryOf, type PastEntry, recall } from './read-history.js';

const talk: PastEntry = {
  seq: 7,
  kind: 'execution',
  event: 'talk',
  status: 'succeeded',
  trigger: 'public',
  caller: 'wallet:W',
  executedAt: '2026-11-26T12:00:00.000Z',
  input: { from: 'mira' },
  changes: [
    {
      entitySchema: 'villager',
      instanceId: 'mira',
      op: 'update',
      set: { mood: 'glad' },
      unset: ['cold'],
      revision: 3,
    },
  ],
  result: { said: 'Hello.' },
  error: null,
};
const names = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ entitySchema: 'villager', instanceId: `v${at}` }));

describe('what an execution remembers', () => {
  it('is narrowed by events and by what was read', () => {
    expect(historySearch({ last: 5 }, names(80))).toEqual({ last: 5 });
    expect(historySearch({ last: 5, events: ['talk'], instances: 'read' }, names(1))).toEqual({
      last: 5,
      events: ['talk'],
      instances: ['villager:v0'],
    });
    expect(() => historySearch({ last: 5, instances: 'read' }, names(51))).toThrow(ServiceError);
  });

  it('is the history of the source, in a fork that replays an entry of it', () => {
    const replays = { deploymentId: 7, seq: 120 };
    expect(historySearch({ last: 5 }, [], replays)).toEqual({ last: 5, replays });
    const replayed = { ...talk, replayOf: { seq: 119, executedAt: '2026-11-01T12:00:00.000Z' } };
    expect(memoryOf(replayed)).toEqual({
      ...memoryOf(talk),
      seq: 119,
      at: '2026-11-01T12:00:00.000Z',
    });
  });

  it('is executions alone', () => {
    expect(isRemembered(talk, { last: 5 })).toBe(true);
    expect(isRemembered({ ...talk, kind: 'paused' }, { last: 5 })).toBe(false);
    expect(isRemembered(talk, { last: 5, events: ['give'] })).toBe(false);
    expect(isRemembered(talk, { last: 5, instances: ['villager:mira'] })).toBe(true);
    expect(isRemembered(talk, { last: 5, instances: ['villager:tom'] })).toBe(false);
  });

  it('says what was done, and what is left out for its size', () => {
    const memory = {
      seq: 7,
      at: talk.executedAt,
      event: 'talk',
      status: 'succeeded',
      trigger: 'public',
      caller: 'wallet:W',
      input: { from: 'mira' },
      changes: { 'villager:mira': { mood: 'glad', cold: null } },
      result: { said: 'Hello.' },
      error: null,
    };
    expect(memoryOf(talk)).toEqual(memory);
    const long = { ...talk, result: { said: 'x'.repeat(5000) } };
    expect(memoryOf(long)).toEqual({ ...memory, result: null, leftOut: ['result'] });
  });

  it('has at most 32 KiB, the newest first, and stands in the order of the journal', () => {
    const found = Array.from({ length: 50 }, (_, at) => ({ seq: 50 - at, text: 'é'.repeat(1000) }));
    const { entries, leftOut, hash } = recall(found);
    expect(entries).toHaveLength(16);
    expect(entries[0]).toMatchObject({ seq: 35 });
    expect(entries.at(-1)).toMatchObject({ seq: 50 });
    expect(leftOut).toBe(34);
    expect(hash).toBe(canonicalHash(entries as never));
    expect(recall([])).toEqual({ entries: [], leftOut: 0, hash: canonicalHash([]) });
  });
});
