import { prepared } from '@orrery/database';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import type { Db } from './schema.js';

interface DatabaseTime extends AsyncDisposable {
  /** `now` is the time of the database; the rest is that of this process. */
  readonly clock: Clock;
  /** Compares once more. */
  readonly measure: () => Promise<void>;
}

const MEASURE_MS = 5_000;

const askTime = prepared<{ now: Date }>('database-time', 'select clock_timestamp() as now');

/**
 * Tells the time by the database's clock, so that all processes that write journals agree, and what is written has the times
 * by which schedules are due. Between two comparisons the time passes by the monotonic clock. What it tells is never earlier
 * than the database's time, and later by no more than an answer of the database took.
 */
export async function followDatabaseTime(db: Db, clock: Clock, logger: Logger): Promise<DatabaseTime> {
  let ahead: number | undefined;
  const measure = async () => {
    const before = clock.monotonic();
    const [row] = await askTime(db, []);
    const after = clock.monotonic();
    if (row === undefined) throw new Error('the database does not say what time it is');
    const now = row.now.getTime();
    // What is between these may be right: it stays, so that a slow answer changes nothing.
    if (ahead === undefined || ahead < now - after || ahead > now - before) ahead = now - before;
  };
  await measure();
  const runOnce = async () => {
    await measure();
    return 'idle' as const;
  };
  const loop = startPollLoop({
    name: 'time of the database',
    intervalMs: MEASURE_MS,
    runOnce,
    clock,
    logger,
  });
  return {
    clock: {
      now: () => Math.ceil(clock.monotonic() + (ahead ?? 0)),
      monotonic: clock.monotonic,
      sleep: clock.sleep,
    },
    measure,
    [Symbol.asyncDispose]: () => loop.stop(),
  };
}
