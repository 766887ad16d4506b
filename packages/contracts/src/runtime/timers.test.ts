import { expect, it } from 'vitest';
import { delayProblem, durationMs, MOST_DELAY_MS, timeMs } from './timers.js';

it.each([
  ['PT90S', 90_000],
  ['PT1H30M', 5_400_000],
  ['P1DT12H', 129_600_000],
  ['P2W', 1_209_600_000],
  ['PT0.25S', 250],
  ['PT0S', 0],
  ['P', undefined],
  ['PT', undefined],
  ['P1DT', undefined],
  ['P1M', undefined],
  ['P1Y', undefined],
  ['-PT1S', undefined],
  ['PT1', undefined],
  ['1 hour', undefined],
  [`PT${'9'.repeat(70)}S`, undefined],
])('the duration %s', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

it.each([
  ['2026-12-24T18:00:00Z', Date.UTC(2026, 11, 24, 18)],
  ['2026-12-24T18:00:00.500+01:00', Date.UTC(2026, 11, 24, 17, 0, 0, 500)],
  ['2026-12-24', undefined],
  ['2026-13-24T18:00:00Z', undefined],
  ['24 December 2026', undefined],
])('the time %s', (text, ms) => {
  expect(timeMs(text)).toBe(ms);
});

it('a delay is none, or within its bounds', () => {
  expect(delayProblem('PT0S')).toBeUndefined();
  expect(delayProblem('PT1S')).toBeUndefined();
  expect(delayProblem('PT0.9S')).toMatch('at least 1 second');
  expect(delayProblem(`PT${MOST_DELAY_MS / 1000 + 1}S`)).toMatch('at most');
});
