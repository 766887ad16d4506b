import type { HistoryEntry } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { activityOf, quantile } from './activity.js';
import { SPANS, stepsOf } from './spans.js';

const NOW = Date.parse('2026-11-26T12:00:30Z');
const execution = (secondsAgo: number, members: object = {}) =>
  ({
    event: 'race',
    status: 'succeeded',
    executedAt: new Date(NOW - secondsAgo * 1000).toISOString(),
    durationMs: 10,
    error: null,
    llm: null,
    ...members,
  }) as unknown as HistoryEntry;
const failed = (secondsAgo: number, code: string, event = 'race') =>
  execution(secondsAgo, { status: 'failed', error: { code }, event });

it.each(['hour', 'day', 'month'] as const)('the steps of a %s end with the one that is under way', (span) => {
  const starts = stepsOf(span, NOW);
  const { step, steps } = SPANS[span];
  expect(starts).toHaveLength(steps);
  expect(starts.at(-1)).toBeLessThanOrEqual(NOW / 1000);
  expect((starts.at(-1) ?? 0) + step).toBeGreaterThan(NOW / 1000);
});

it('counts executions by step, failures by code, and what each event takes and costs', () => {
  const priced = { llm: { model: 'm', usage: { usd: 0.25 } }, event: 'report', durationMs: 900 };
  const executions = [
    execution(0),
    execution(31, { durationMs: 30 }),
    failed(40, 'template_failed'),
    failed(50, 'template_failed', 'report'),
    failed(61, 'invalid_state'),
    execution(20, priced),
    execution(100_000),
  ];
  const {
    succeeded,
    failed: wrong,
    failures,
    events,
  } = activityOf(executions, stepsOf('hour', NOW), SPANS.hour.step);
  expect(succeeded.slice(-2)).toEqual([1, 2]);
  expect(wrong.slice(-2)).toEqual([3, 0]);
  expect(failures).toEqual([
    { code: 'template_failed', count: 2, events: ['race', 'report'] },
    { code: 'invalid_state', count: 1, events: ['race'] },
  ]);
  expect(events).toEqual([
    { event: 'race', succeeded: 2, failed: 2, median: 10, p95: 30, usd: undefined },
    { event: 'report', succeeded: 1, failed: 1, median: 10, p95: 900, usd: 0.25 },
  ]);
});

it('a quantile is one of the numbers', () => {
  expect(quantile([], 0.5)).toBeUndefined();
  expect(quantile([7], 0.95)).toBe(7);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2);
});
