import { expect, it } from 'vitest';
import { lastDays, OTHERS, stacked, totalsByEvent, usageChart } from './usage-series.js';

const row = (day: string, event: string, usd: number, calls = 1) => ({
  day,
  event,
  calls,
  inputTokens: 100,
  outputTokens: 10,
  usd,
});
const totals = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
const usage = {
  from: '2026-02-27',
  to: '2026-03-02',
  totals,
  days: [row('2026-02-27', 'race', 1), row('2026-03-01', 'race', 2), row('2026-03-01', 'story', 4, 7)],
};

it('has every day of the range, over the end of a month', () => {
  const { days, series } = usageChart(usage, 'usd');
  expect(days.map((day) => new Date(day * 1000).toISOString())).toEqual([
    '2026-02-27T00:00:00.000Z',
    '2026-02-28T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
  ]);
  expect(series).toEqual([
    { event: 'story', values: [0, 0, 4, 0] },
    { event: 'race', values: [1, 0, 2, 0] },
  ]);
  expect(stacked(series)).toEqual([
    [0, 0, 4, 0],
    [1, 0, 6, 0],
  ]);
});

it('counts calls and tokens as well', () => {
  expect(usageChart(usage, 'calls').series[0]).toEqual({ event: 'story', values: [0, 0, 7, 0] });
  expect(usageChart(usage, 'tokens').series[0]).toEqual({ event: 'race', values: [110, 0, 110, 0] });
});

it('draws the smallest of many events together', () => {
  const days = Array.from({ length: 10 }, (_, at) => row('2026-02-28', `e${at}`, at));
  const { series } = usageChart({ ...usage, days }, 'usd');
  expect(series.map(({ event }) => event)).toEqual(['e9', 'e8', 'e7', 'e6', 'e5', 'e4', OTHERS]);
  expect(series.at(-1)?.values).toEqual([0, 0 + 1 + 2 + 3, 0, 0]);
});

it('has no series where no model was asked', () => {
  expect(usageChart({ ...usage, days: [] }, 'usd')).toMatchObject({ series: [] });
});

it('sums up each event', () => {
  expect(totalsByEvent(usage.days)).toEqual([
    { event: 'story', calls: 7, inputTokens: 100, outputTokens: 10, usd: 4 },
    { event: 'race', calls: 2, inputTokens: 200, outputTokens: 20, usd: 3 },
  ]);
});

it('counts the last days in UTC', () => {
  expect(lastDays(30, new Date('2026-03-01T23:59:59Z'))).toEqual({ from: '2026-01-31', to: '2026-03-01' });
});
