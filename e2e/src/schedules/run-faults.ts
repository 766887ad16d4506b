import { setMaxListeners } from 'node:events';
import { systemClock } from '@orrery/service-kit';
import { type NodeProcess, startFiveProcesses, startNode } from '@orrery/testing/system';
import { Client, type QueryResult } from 'pg';
import { type ApiClient, apiClient } from '../api-client.js';
import { type Disturbances, disturb, untilAnswered } from './disturb.js';
import { findScheduleViolations, type LedgerReport } from './find-schedule-violations.js';
import { scheduledWorld } from './scheduled-world.js';

export interface FaultRun {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** Deployments with a schedule that is due every minute. */
  readonly schedules: number;
  readonly schedulers: number;
  /** How many times as fast time passes for the schedules. */
  readonly speed: number;
  /** How long processes are killed, in real seconds. */
  readonly seconds: number;
  readonly write: (line: string) => void;
}

/** The clocks of two processes differ by this much, in milliseconds. */
const APART_MS = 5 * 60_000;
/** A process works this long at most before it is killed, in milliseconds. */
const LONGEST_LIFE_MS = 5_000;
const AT_ONCE = 16;
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

export interface FaultReport extends LedgerReport {
  readonly kills: number;
  readonly disturbances: Omit<Disturbances, 'wrong'>;
}

/**
 * Runs schedulers whose clocks are wrong and kills them at random, while owners rebind, pause and resume; answers what the
 * ledgers and journals say then.
 */
export async function runFaults(options: FaultRun): Promise<FaultReport> {
  const { databaseUrl, natsUrl, schedules, schedulers, speed, seconds, write } = options;
  await using system = await startFiveProcesses({ databaseUrl, natsUrl }, { RATE_LIMITS: 'false' });
  await system.kill('scheduler');
  const api = apiClient(system.url, system.key);
  const world = await scheduledWorld(api, '* * * * *');
  const deployments: string[] = [];
  for (let made = 0; made < schedules; made += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, schedules - made) }, world.deploy);
    deployments.push(...(await Promise.all(some)));
  }
  const versions = [1, await world.version('* * * * *')];
  const variables = {
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    HEALTH_PORT: '0',
    LOG_LEVEL: 'info',
    FROM_MS: String(await databaseNow(databaseUrl)),
    SPEED: String(speed),
  };
  const start = (skew: number): NodeProcess =>
    startNode('e2e/dist/schedules/hurried-scheduler.js', { ...variables, CLOCK_SKEW_MS: String(skew) });
  const until = Date.now() + seconds * 1000;
  let kills = 0;
  const live = async (index: number) => {
    const skew = (index - 1) * APART_MS;
    while (Date.now() < until) {
      const process = start(skew);
      await process.waitFor(/"msg":"started"/);
      await systemClock.sleep(Math.random() * LONGEST_LIFE_MS);
      await process.end('SIGKILL');
      kills += 1;
    }
  };
  const ending = new AbortController();
  const disturbed = disturb({ api, deployments, versions, signal: ending.signal });
  await Promise.all(Array.from({ length: schedulers }, (_, index) => live(index)));
  ending.abort();
  const { wrong, ...disturbances } = await disturbed;
  write(`${kills} kills; the last scheduler brings the rest to an end`);
  await using last = start(0);
  await untilFollowed(api, deployments);
  await untilNothingRuns(databaseUrl);
  await last.end('SIGTERM');
  const found = await findScheduleViolations(databaseUrl);
  return { ...found, violations: [...found.violations, ...wrong], kills, disturbances };
}

async function databaseNow(databaseUrl: string): Promise<number> {
  const { rows } = await ask<{ now: Date }>(databaseUrl, 'select clock_timestamp() as now');
  return rows[0]?.now.getTime() ?? 0;
}

/** An answer about schedules includes all changes before it. */
async function untilFollowed(api: ApiClient, deployments: readonly string[]): Promise<void> {
  const left = [...deployments];
  const askAll = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const path = `${next}/schedules`;
      await untilAnswered(() => api.get(path), NEVER);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askAll));
}

/** New due times begin all the time: what was claimed before is over when all that ran at one moment has ended. */
async function untilNothingRuns(databaseUrl: string): Promise<void> {
  for (;;) {
    // What is due goes on; the schedules are held so that it ends.
    const held = await ask(
      databaseUrl,
      'update scheduler.schedules set next_at = null where next_at is not null',
    );
    const running = `select count(*)::int as n from scheduler.occurrences where status = 'running'`;
    const { rows } = await ask<{ n: number }>(databaseUrl, running);
    if (held.rowCount === 0 && rows[0]?.n === 0) return;
    await systemClock.sleep(100);
  }
}

async function ask<T extends object>(databaseUrl: string, query: string): Promise<QueryResult<T>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  return client.query<T>(query).finally(() => client.end());
}
