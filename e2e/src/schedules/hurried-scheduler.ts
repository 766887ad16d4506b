import { connectBus } from '@orrery/bus';
import { startScheduler } from '@orrery/scheduler';
import { readSchedulerConfig } from '@orrery/scheduler/config';
import { type Clock, readEnvironment, runService, systemClock } from '@orrery/service-kit';
import { Pool } from 'pg';
import { z } from 'zod';

// A scheduler whose time passes faster than that of the database, and whose own clock is wrong.

const environment = z.object({
  DATABASE_URL: z.string(),
  NATS_URL: z.string(),
  /** By how much the clock of this process is wrong, in milliseconds. */
  CLOCK_SKEW_MS: z.string().transform(Number),
  /** From this time of the database on, in milliseconds, time passes `SPEED` times as fast. */
  FROM_MS: z.string().transform(Number),
  SPEED: z.string().transform(Number),
});

await runService({
  name: 'scheduler',
  env: process.env,
  settings: (env) => ({ own: readEnvironment(environment, env), config: readSchedulerConfig(env) }),
  start: async ({ logger, health, resources }, { own, config }) => {
    const skewed: Clock = { ...systemClock, now: () => Date.now() + own.CLOCK_SKEW_MS };
    const hurried: Clock = {
      now: skewed.now,
      monotonic: skewed.monotonic,
      sleep: (ms, signal) => systemClock.sleep(ms / own.SPEED, signal),
    };
    const bus = await connectBus({ url: own.NATS_URL, service: 'scheduler', logger, clock: skewed });
    resources.add('bus', () => bus.close());
    const pool = new Pool({ connectionString: own.DATABASE_URL, max: 2 });
    resources.add('clock', () => pool.end());
    const databaseNow = async () => {
      const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
      const passed = (rows[0]?.now.getTime() ?? 0) - own.FROM_MS;
      return own.FROM_MS + passed * own.SPEED;
    };
    return startScheduler(
      { databaseUrl: own.DATABASE_URL, bus, clock: hurried, logger, health, databaseNow },
      config,
    );
  },
});
