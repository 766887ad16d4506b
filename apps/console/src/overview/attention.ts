import type { HistoryEntry } from '@orrery/sdk';
import type { AiUsage, Deployment, PaymentTotal, Push, Schedule, Timer, Webhook } from '../api/records.js';

/** Where what needs attention is seen to. */
export type Place = 'settings' | 'schedules' | 'pushes' | 'payments' | 'ai' | 'live';

export interface Need {
  readonly tone: 'bad' | 'warn';
  readonly words: string;
  /** Why, in the words of the service. */
  readonly why?: string | undefined;
  readonly place: Place;
}

/** What is known of a deployment; what is undefined is not known yet. */
export interface Known {
  readonly deployment?: Deployment | undefined;
  readonly schedules?: readonly Schedule[] | undefined;
  readonly stoppedPushes?: readonly Push[] | undefined;
  readonly webhooks?: readonly Webhook[] | undefined;
  readonly payments?: readonly PaymentTotal[] | undefined;
  readonly timers?: readonly Timer[] | undefined;
  readonly usageToday?: AiUsage | undefined;
  /** The latest failed executions. */
  readonly failed?: readonly HistoryEntry[] | undefined;
}

const DAY_MS = 86_400_000;
/** A timer is executed when it is due; later than this in a deployment that is not paused somebody should look. */
const LATE_MS = 60_000;
/** Part of a budget from which on one is told. */
const NEARLY_USED = 0.8;

/** What needs attention, the worst first. */
export function needsOf(known: Known, now: number): Need[] {
  const needs = [
    ...pausedOf(known),
    ...failuresOf(known, now),
    ...schedulesOf(known),
    ...pushesOf(known),
    ...webhooksOf(known),
    ...paymentsOf(known),
    ...budgetOf(known),
    ...timersOf(known, now),
  ];
  return needs.sort((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
}

const pausedOf = ({ deployment }: Known): Need[] =>
  deployment?.isPaused
    ? [
        {
          tone: 'warn',
          words: 'It is paused: executions are refused, and nothing is due.',
          place: 'settings',
        },
      ]
    : [];

function failuresOf({ failed = [] }: Known, now: number): Need[] {
  const today = failed.filter(({ executedAt }) => now - Date.parse(executedAt) < DAY_MS);
  const [latest] = today;
  if (latest === undefined) return [];
  const count = `${today.length}${today.length === failed.length && failed.length >= MOST_FAILED ? ' or more' : ''}`;
  const words = `${count} ${today.length === 1 ? 'execution has' : 'executions have'} failed within a day, the latest of ${latest.event}.`;
  return [{ tone: 'warn', words, why: latest.error?.detail, place: 'live' }];
}
/** Failed executions that are read. */
export const MOST_FAILED = 40;

const schedulesOf = ({ schedules = [] }: Known): Need[] =>
  schedules.flatMap(({ event, consecutiveFailures, lastError }): Need[] =>
    consecutiveFailures > 0
      ? [
          {
            tone: 'bad',
            words: `The schedule of ${event} has failed ${consecutiveFailures === 1 ? 'the last time' : `${consecutiveFailures} times in a row`}.`,
            why: lastError?.detail,
            place: 'schedules',
          },
        ]
      : [],
  );

const pushesOf = ({ stoppedPushes = [] }: Known): Need[] =>
  stoppedPushes.map(({ chain, seq, error }) => ({
    tone: 'bad',
    words: `The push of entry ${seq} to ${chain} has failed: later ones wait for it.`,
    why: error?.detail,
    place: 'pushes',
  }));

const webhooksOf = ({ webhooks = [] }: Known): Need[] =>
  webhooks.flatMap(({ url, state, problem }): Need[] => {
    if (state === 'active') return [];
    const words =
      state === 'disabled' ? `The webhook to ${url} is disabled.` : `The webhook to ${url} does not arrive.`;
    return [{ tone: state === 'disabled' ? 'bad' : 'warn', words, why: problem?.detail, place: 'settings' }];
  });

const MONEY = { refund_due: 'must be returned', uncollected: 'were never charged' } as const;

const paymentsOf = ({ payments = [] }: Known): Need[] =>
  payments.flatMap(({ status, payments: count }): Need[] =>
    status === 'refund_due' || status === 'uncollected'
      ? [
          {
            tone: 'bad',
            words: `${count} ${count === 1 ? 'payment' : 'payments'} ${MONEY[status]}.`,
            place: 'payments',
          },
        ]
      : [],
  );

function budgetOf({ deployment, usageToday }: Known): Need[] {
  const budget = deployment?.aiDailyBudgetUsd;
  if (typeof budget !== 'number' || usageToday === undefined) return [];
  const part = budget === 0 ? 1 : usageToday.totals.usd / budget;
  if (part < NEARLY_USED) return [];
  const words = `Models have used ${Math.round(part * 100)} % of today's budget.`;
  return [{ tone: part >= 1 ? 'bad' : 'warn', words, place: 'ai' }];
}

function timersOf({ deployment, timers = [] }: Known, now: number): Need[] {
  if (deployment?.isPaused !== false) return [];
  const late = timers.filter(
    ({ dueAt, executionId }) => executionId === null && now - Date.parse(dueAt) > LATE_MS,
  );
  return late.length === 0
    ? []
    : [
        {
          tone: 'bad',
          words: `${late.length} ${late.length === 1 ? 'timer is' : 'timers are'} overdue.`,
          place: 'schedules',
        },
      ];
}
