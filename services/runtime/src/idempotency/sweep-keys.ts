import { deleteExpiredKeys } from '@orrery/database';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { Db } from '../database/db.js';

const KEYS_PER_RUN = 1000;
const INTERVAL_MS = 60_000;

/** Removes keys that no longer answer. */
export const startKeySweep = ({ db, clock, logger }: { db: Db; clock: Clock; logger: Logger }): PollLoop =>
  startPollLoop({
    name: 'idempotency key sweep',
    intervalMs: INTERVAL_MS,
    clock,
    logger,
    runOnce: async () =>
      (await deleteExpiredKeys(db, clock.now(), KEYS_PER_RUN)) === KEYS_PER_RUN ? 'more' : 'idle',
  });
