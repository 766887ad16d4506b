import { createMeter, createTracer, inSpan, isTraced } from '@orrery/service-kit';
import type { ClaimedOccurrence } from '../core/occurrences/occurrence.js';
import type { Outcome } from '../core/occurrences/outcome.js';

type Ended = readonly Pick<Outcome, 'status' | 'outcome' | 'reason'>[];

/** What the scheduler measures. */
export type SchedulerSignals = ReturnType<typeof schedulerSignals>;

/** Bounds of the histogram of lateness, in seconds. */
const LATENESS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

/** A collection of metrics waits no longer for the database, in milliseconds. */
const PATIENCE_MS = 1000;

/** `readLag`: for how long the first due time that is not decided has been due, in milliseconds. */
export function schedulerSignals(readLag: () => Promise<number>) {
  const meter = createMeter('scheduler');
  const count = (name: string, description: string) =>
    meter.createCounter(`orrery_scheduler_${name}`, { description });
  const decided = count('schedules_decided', 'Times that a schedule was due');
  const ended = count('occurrences', 'Occurrences with an outcome, by status and outcome or reason');
  const repeated = count('repetitions', 'Attempts that are sent again because their outcome is not known');
  const retried = count('retries', 'Further attempts after one that failed');
  const lateness = meter.createHistogram('orrery_scheduler_lateness_seconds', {
    description: 'From the due time of an occurrence to its first dispatch',
    advice: { explicitBucketBoundaries: LATENESS },
  });
  const lag = meter.createObservableGauge('orrery_scheduler_lag_seconds', {
    description: 'How long the first due time that is not decided has been due',
  });
  lag.addCallback(async (result) => {
    const ms = await inTime(readLag());
    if (ms !== undefined) result.observe(ms / 1000);
  });
  const tracer = isTraced() ? createTracer('scheduler') : undefined;
  return {
    /** Sends an attempt: each sending begins a trace, which the execution continues. */
    sending: <T>(occurrence: ClaimedOccurrence, send: () => Promise<T>): Promise<T> => {
      if (tracer === undefined) return send();
      const attributes = {
        'orrery.deployment': occurrence.deployment,
        'orrery.event': occurrence.event,
        'orrery.occurrence': occurrence.id,
        'orrery.due_at': new Date(occurrence.dueAt).toISOString(),
        'orrery.attempt': occurrence.attempt,
        'orrery.repeats': occurrence.repeats,
      };
      return inSpan(tracer, 'occurrence', { attributes }, send);
    },
    /** Schedules whose due times were decided. */
    decided: (count: number) => {
      if (count > 0) decided.add(count);
    },
    /** An occurrence is sent for the first time, this long after it was due, in milliseconds. */
    dispatched: (lateMs: number) => lateness.record(Math.max(0, lateMs) / 1000),
    ended: (outcomes: Ended) => {
      for (const [status, details] of countOutcomes(outcomes))
        for (const [detail, count] of details) ended.add(count, { status, detail });
    },
    /** An attempt is sent again because nobody knows its outcome. */
    repeated: () => repeated.add(1),
    /** A next attempt is made. */
    retried: () => retried.add(1),
  };
}

/** Undefined while the database does not answer: there may be a lag of any length. */
function inTime(read: Promise<number>): Promise<number | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), PATIENCE_MS).unref());
  return Promise.race([read.catch(() => undefined), late]);
}

/** How many there are of each status and detail: a counter's attributes cost more than the rest of an outcome. */
function countOutcomes(outcomes: Ended): Map<string, Map<string, number>> {
  const counts = new Map<string, Map<string, number>>();
  for (const { status, outcome, reason } of outcomes) {
    const details = counts.get(status) ?? new Map<string, number>();
    const detail = outcome ?? reason ?? '';
    counts.set(status, details.set(detail, (details.get(detail) ?? 0) + 1));
  }
  return counts;
}
