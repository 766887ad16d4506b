import { type Environment, readEnvironment, wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';

const limit = (fallback: number, max: number, what: string) =>
  wholeNumber({ min: 1, max, what: `${what}, 1 to ${max}` }).default(fallback);

const environment = z.object({
  SCHEDULE_CONCURRENCY: limit(100, 1_000, 'occurrences that one process sends for the first time at once'),
  SCHEDULE_PER_SECOND: limit(
    150,
    10_000,
    'occurrences that one process sends for the first time in a second',
  ),
  SCHEDULE_LEDGER_DAYS: limit(30, 3_650, 'days for which the rows of ledgers are kept'),
  SCHEDULE_RECONCILE_MS: limit(15_000, 3_600_000, 'milliseconds between two comparisons with the bindings'),
  SCHEDULE_DRAFTS_MS: limit(600_000, 86_400_000, 'milliseconds between two comparisons of drafts'),
});

export type SchedulerConfig = Readonly<ReturnType<typeof readSchedulerConfig>>;

/** @throws StartupError naming every variable that is wrong. */
export function readSchedulerConfig(env: Environment) {
  const read = readEnvironment(environment, env);
  return {
    concurrency: read.SCHEDULE_CONCURRENCY,
    perSecond: read.SCHEDULE_PER_SECOND,
    reconcileMs: read.SCHEDULE_RECONCILE_MS,
    draftsMs: read.SCHEDULE_DRAFTS_MS,
    ledgerDays: read.SCHEDULE_LEDGER_DAYS,
  };
}
