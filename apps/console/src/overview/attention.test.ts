import { expect, it } from 'vitest';
import { type Known, needsOf } from './attention.js';

const running = { isPaused: false, aiDailyBudgetUsd: 10 };
const words = (known: object) => needsOf(known as unknown as Known).map(({ words: said }) => said);

it('nothing that is well needs attention, nor what is not known yet', () => {
  expect(words({})).toEqual([]);
  expect(
    words({
      deployment: running,
      schedules: [{ consecutiveFailures: 0 }],
      stoppedPushes: [],
      webhooks: [{ state: 'active' }],
      overview: {
        payments: [{ status: 'settled', payments: 3 }],
        timers: { overdue: 0 },
        modelsUsdToday: 1,
        latestFailure: null,
        failures: [],
      },
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
    { overview: { latestFailure: { event: 'race', detail: null }, failures: [] } },
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
  [
    {
      overview: {
        latestFailure: { event: 'race', detail: null },
        failures: [{ count: 1200 }, { count: 34 }],
      },
    },
    '1,234 executions have failed within a day, the latest of race.',
  ],
  [{ overview: { payments: [{ status: 'refund_due', payments: 2 }] } }, '2 payments must be returned.'],
  [{ deployment: running, overview: { modelsUsdToday: 9 } }, "Models have used 90 % of today's budget."],
  [{ deployment: running, overview: { timers: { overdue: 1 } } }, '1 timer is overdue.'],
])('%j is told', (known, said) => {
  expect(words(known)).toEqual([said]);
});
