import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { recordTogether } from './record-together.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function recorder() {
  const recorded: string[][] = [];
  const record = recordTogether<string>(async (outcomes) => void recorded.push([...outcomes]));
  return { recorded, record: (...outcomes: string[]) => Promise.all(outcomes.map(record)) };
}

it('an outcome that comes alone is recorded at once', async () => {
  const { recorded, record } = recorder();
  await record('a');
  await record('b');
  expect(recorded).toEqual([['a'], ['b']]);
});

it('after many, those that come within a while share a statement', async () => {
  const { recorded, record } = recorder();
  await record('a', 'b', 'c', 'd');
  const early = record('e');
  await turn();
  await vi.advanceTimersByTimeAsync(49);
  const late = record('f');
  expect(recorded).toEqual([['a', 'b', 'c', 'd']]);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all([early, late]);
  expect(recorded.slice(1)).toEqual([['e', 'f']]);
});

it('a statement that failed is followed by the rest as well', async () => {
  let calls = 0;
  const record = recordTogether<string>(async () => {
    calls += 1;
    if (calls === 1) throw new Error('away');
  });
  await expect(Promise.all(['a', 'b', 'c', 'd'].map(record))).rejects.toThrow('away');
  const next = record('e');
  await turn();
  expect(calls).toBe(1);
  await vi.advanceTimersByTimeAsync(50);
  await next;
  expect(calls).toBe(2);
});
