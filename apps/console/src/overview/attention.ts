import type { Deployment, Overview, Push, Schedule, Webhook } from '../api/records.js';

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
  /** Of the last day. */
  readonly overview?: Overview | undefined;
}

/** Part of a budget from which on one is told. */
const NEARLY_USED = 0.8;

/** What needs attention, the worst first. */
export function needsOf(known: Known): Need[] {
  const needs = [
    ...pausedOf(known),
    ...failuresOf(known),
    ...schedulesOf(known),
    ...pushesOf(known),
    ...webhooksOf(known),
    ...paymentsOf(known),
    ...budgetOf(known),
    ...timersOf(known),
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

function failuresOf({ overview }: Known): Need[] {
  const { latestFailure: latest, failures = [] } = overview ?? {};
  if (!latest) return [];
  // The latest one may not be counted yet.
  const count = Math.max(
    1,
    failures.reduce((sum, one) => sum + one.count, 0),
  );
  const words = `${count.toLocaleString('en')} ${count === 1 ? 'execution has' : 'executions have'} failed within a day, the latest of ${latest.event}.`;
  return [{ tone: 'warn', words, why: latest.detail ?? undefined, place: 'live' }];
}

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

const paymentsOf = ({ overview }: Known): Need[] =>
  (overview?.payments ?? []).flatMap(({ status, payments: count }): Need[] =>
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

function budgetOf({ deployment, overview }: Known): Need[] {
  const budget = deployment?.aiDailyBudgetUsd;
  const used = overview?.modelsUsdToday;
  if (typeof budget !== 'number' || typeof used !== 'number') return [];
  const part = budget === 0 ? 1 : used / budget;
  if (part < NEARLY_USED) return [];
  const words = `Models have used ${Math.round(part * 100)} % of today's budget.`;
  return [{ tone: part >= 1 ? 'bad' : 'warn', words, place: 'ai' }];
}

function timersOf({ deployment, overview }: Known): Need[] {
  const late = overview?.timers?.overdue ?? 0;
  if (late === 0 || deployment?.isPaused !== false) return [];
  const words = `${late.toLocaleString('en')} ${late === 1 ? 'timer is' : 'timers are'} overdue.`;
  return [{ tone: 'bad', words, place: 'schedules' }];
}
