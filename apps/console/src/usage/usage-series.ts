import type { AiUsage } from '../api/records.js';

/** Days; the service sums up 92 at most at once. */
export const RANGES = [7, 30, 90] as const;
/** What can be charted of the usage of models. */
export const MEASURES = ['usd', 'calls', 'tokens'] as const;
export type Measure = (typeof MEASURES)[number];

export interface UsageChart {
  /** Seconds since 1970 of 00:00 UTC, one for each day of the range. */
  readonly days: readonly number[];
  /** Each event with its value on each of the days, most first. */
  readonly series: readonly { readonly event: string; readonly values: readonly number[] }[];
}

const DAY_SECONDS = 86_400;
/** What a chart can hold apart; the others are drawn together. */
const MOST_SERIES = 7;
export const OTHERS = 'all others';

const secondsOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;
export const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

type Counted = Pick<AiUsage['totals'], 'calls' | 'usd' | 'inputTokens' | 'outputTokens'>;
export const measured = (usage: Counted, measure: Measure): number =>
  measure === 'tokens' ? usage.inputTokens + usage.outputTokens : usage[measure];

/** The usage by day and event, with zeros for the days without any. */
export function usageChart({ from, to, days }: AiUsage, measure: Measure): UsageChart {
  const first = secondsOf(from);
  const length = (secondsOf(to) - first) / DAY_SECONDS + 1;
  const byEvent = new Map<string, number[]>();
  const ranked = totalsByEvent(days).toSorted((a, b) => measured(b, measure) - measured(a, measure));
  const shown = new Set(
    ranked.slice(0, ranked.length > MOST_SERIES ? MOST_SERIES - 1 : MOST_SERIES).map(({ event }) => event),
  );
  for (const { event } of ranked) {
    const name = shown.has(event) ? event : OTHERS;
    if (!byEvent.has(name)) byEvent.set(name, new Array<number>(length).fill(0));
  }
  for (const usage of days) {
    const values = byEvent.get(shown.has(usage.event) ? usage.event : OTHERS);
    const at = (secondsOf(usage.day) - first) / DAY_SECONDS;
    if (values?.[at] !== undefined) values[at] += measured(usage, measure);
  }
  return {
    days: Array.from({ length }, (_, at) => first + at * DAY_SECONDS),
    series: [...byEvent].map(([event, values]) => ({ event, values })),
  };
}

export interface EventUsage extends Counted {
  readonly event: string;
}

/** The sums of each event over all days, most expensive first, then by calls. */
export function totalsByEvent(days: AiUsage['days']): EventUsage[] {
  const byEvent = new Map<string, EventUsage>();
  for (const { event, calls, inputTokens, outputTokens, usd } of days) {
    const sum = byEvent.get(event) ?? { event, calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
    byEvent.set(event, {
      event,
      calls: sum.calls + calls,
      inputTokens: sum.inputTokens + inputTokens,
      outputTokens: sum.outputTokens + outputTokens,
      usd: sum.usd + usd,
    });
  }
  return [...byEvent.values()].sort((a, b) => b.usd - a.usd || b.calls - a.calls);
}

/** Each series on top of those before it, for bars that stand on one another. */
export function stacked(series: UsageChart['series']): number[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + value;
      return sums[at] ?? 0;
    }),
  );
}

/** The last `days` UTC days, today included. */
export function lastDays(days: number, now: Date): { from: string; to: string } {
  const today = secondsOf(now.toISOString().slice(0, 10));
  return { from: dayOf(today - (days - 1) * DAY_SECONDS), to: dayOf(today) };
}
