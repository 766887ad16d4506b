import { expect, it } from 'vitest';
import { type Known, needsOf } from './attention.js';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const running = { isPaused: false, aiDailyBudgetUsd: 10 };
const words = (known: object) => needsOf(known as unknown as Known, NOW).map(({ words: said }) => said);

it('nothing that is well needs attention, nor what is not known yet', () => {
  expect(words({})).toEqual([]);
  expect(
    words({
      deployment: running,
      schedules: [{ consecutiveFailures: 0 }],
      stoppedPushes: [],
      webhooks: [{ state: 'active' }],
      payments: [{ status: 'settled', payments: 3 }],
      timers: [{ dueAt: '2026-11-26T12:01:00Z', executionId: null }],
      usageToday: { totals: { usd: 1 } },
      failed: [{ executedAt: '2026-11-20T12:00:00Z' }],
    }),
  ).toEqual([]);
});

it('the worst comes first', () => {
  const known = {
    deployment: { ...running, isPaused: true },
    schedules: [{ event: 'tide', consecutiveFailures: 2, lastError: { detail: 'why' } }],
  };
  expect(words(known)).toEqual([
    'The schedule of tide has failed 2 times in a row.',
    'It is paused: executions are refused, and nothing is due.',
  ]);
});

it.each([
  [
    { failed: [{ executedAt: '2026-11-26T11:00:00Z', event: 'race', error: null }] },
    '1 execution has failed within a day, the latest of race.',
  ],
  [
    { stoppedPushes: [{ chain: 'base', seq: 7, error: null }] },
    'The push of entry 7 to base has failed: later ones wait for it.',
  ],
  [
    { webhooks: [{ url: 'https://a', state: 'disabled', problem: null }] },
    'The webhook to https://a is disabled.',
  ],
  [
    { webhooks: [{ url: 'https://a', state: 'retrying', problem: null }] },
    'The webhook to https://a does not arrive.',
  ],
  [{ payments: [{ status: 'refund_due', payments: 2 }] }, '2 payments must be returned.'],
  [{ deployment: running, usageToday: { totals: { usd: 9 } } }, "Models have used 90 % of today's budget."],
  [
    { deployment: running, timers: [{ dueAt: '2026-11-26T11:00:00Z', executionId: null }] },
    '1 timer is overdue.',
  ],
])('%j is told', (known, said) => {
  expect(words(known)).toEqual([said]);
});
