import type { HistoryEntry } from '@orrery/sdk';
import { exchangeFacts } from '../run/exchange-facts.js';

type Execution = Pick<HistoryEntry, 'event' | 'status' | 'executedAt' | 'durationMs' | 'error' | 'llm'>;

export interface EventActivity {
  readonly event: string;
  readonly succeeded: number;
  readonly failed: number;
  /** Milliseconds; undefined without an execution. */
  readonly median: number | undefined;
  readonly p95: number | undefined;
  /** US dollars of its models; undefined where none has a price. */
  readonly usd: number | undefined;
}

export interface Activity {
  /** By step. */
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
  /** The most frequent first. */
  readonly failures: readonly {
    readonly code: string;
    readonly count: number;
    readonly events: readonly string[];
  }[];
  readonly events: readonly EventActivity[];
}

/** What executions come to, in steps that begin at `starts`. Those before the first step are left out. */
export function activityOf(
  executions: readonly Execution[],
  starts: readonly number[],
  step: number,
): Activity {
  const first = starts[0] ?? 0;
  const within = executions.filter(({ executedAt }) => Date.parse(executedAt) / 1000 >= first);
  const counts = { succeeded: starts.map(() => 0), failed: starts.map(() => 0) };
  for (const { executedAt, status } of within) {
    const at = Math.min(Math.floor((Date.parse(executedAt) / 1000 - first) / step), starts.length - 1);
    const of = counts[status === 'failed' ? 'failed' : 'succeeded'];
    of[at] = (of[at] ?? 0) + 1;
  }
  return { ...counts, failures: failuresOf(within), events: eventsOf(within) };
}

function failuresOf(executions: readonly Execution[]): Activity['failures'] {
  const byCode = grouped(
    executions.filter(({ error }) => error !== null),
    ({ error }) => error?.code ?? '',
  );
  return [...byCode]
    .map(([code, failed]) => ({
      code,
      count: failed.length,
      events: [...new Set(failed.map(({ event }) => event ?? ''))].sort(),
    }))
    .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
}

function eventsOf(executions: readonly Execution[]): EventActivity[] {
  return [...grouped(executions, ({ event }) => event ?? '')]
    .map(([event, all]) => {
      const durations = all.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
      const costs = all.flatMap(({ llm }) => exchangeFacts(llm)?.usd ?? []);
      const failed = all.filter(({ status }) => status === 'failed').length;
      return {
        event,
        succeeded: all.length - failed,
        failed,
        median: quantile(durations, 0.5),
        p95: quantile(durations, 0.95),
        usd: costs.length === 0 ? undefined : costs.reduce((sum, usd) => sum + usd, 0),
      };
    })
    .sort((a, b) => b.succeeded + b.failed - a.succeeded - a.failed || (a.event < b.event ? -1 : 1));
}

function grouped(executions: readonly Execution[], keyOf: (execution: Execution) => string) {
  const groups = new Map<string, Execution[]>();
  for (const execution of executions) {
    const group = groups.get(keyOf(execution));
    if (group === undefined) groups.set(keyOf(execution), [execution]);
    else group.push(execution);
  }
  return groups;
}

/** The nearest rank of rising numbers; undefined for none. */
export const quantile = (rising: readonly number[], part: number): number | undefined =>
  rising[Math.max(0, Math.ceil(rising.length * part) - 1)];
