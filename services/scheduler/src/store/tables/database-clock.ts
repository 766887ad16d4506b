import { prepared } from '@orrery/database';
import type { Db } from './schema.js';

/**
 * What time it is, for everything that is due: the database's time in production, so that the clocks of processes play no
 * part. Milliseconds since the epoch.
 */
export type DatabaseClock = () => Promise<number>;

const now = prepared<{ now: Date }>('database-now', 'select clock_timestamp() as now');

export const databaseClock =
  (db: Db): DatabaseClock =>
  async () => {
    const [row] = await now(db, []);
    if (row === undefined) throw new Error('the database does not say what time it is');
    return row.now.getTime();
  };
