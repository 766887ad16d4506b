import { setTimeout as wait } from 'node:timers/promises';
import type { ExpectedBinding, JsonObject } from '@orrery/contracts';
import { type NodeProcess, startNode } from '@orrery/testing/system';
import { Client } from 'pg';
import PgBoss from 'pg-boss';
import { LOOK_MS } from './dispatch.js';

/** A job tells its worker the whole call, as an occurrence tells the scheduler. */
export interface QueueJob {
  readonly name: string;
  readonly data: {
    readonly deployment: string;
    readonly event: string;
    readonly input: JsonObject;
    readonly expected: ExpectedBinding;
  };
}

/** Two workers, batches of 100: see `queue-worker.ts`. */
export const PACES = {
  polling: 'in a handler, at its shortest interval',
  loop: 'in a loop without a pause',
};
export type Pace = keyof typeof PACES;

/** Two workers (`queue-worker.ts`). */
export interface QueueWorkers extends AsyncDisposable {
  /** They use no processor time until `resume`. */
  pause(): void;
  resume(): void;
}

/** A queue of pg-boss. */
export interface BenchQueue extends AsyncDisposable {
  /** `pace`: see `queue-worker.ts`. */
  startWorkers(pace: Pace): Promise<QueueWorkers>;
  /** Jobs a second, from the first that is inserted to the end of the last. */
  run(jobs: readonly QueueJob[]): Promise<number>;
}

const QUEUE = 'ticks';

/** A job for each schedule, in the order in which the scheduler takes them. */
export async function jobsOf(client: Client): Promise<QueueJob[]> {
  const { rows } = await client.query<QueueJob['data']>(
    `select deployment, event, jsonb_build_object('n', counter + 1) as input,
       jsonb_build_object('bindingId', binding_id, 'eventVersion', event_version, 'versionHash', version_hash) as expected
     from scheduler.schedules order by spread, id`,
  );
  return rows.map((data) => ({ name: QUEUE, data }));
}

export async function startQueue({
  databaseUrl,
  natsUrl,
}: {
  readonly databaseUrl: string;
  readonly natsUrl: string;
}): Promise<BenchQueue> {
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue(QUEUE);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const variables = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl };
  return {
    startWorkers: async (pace) => {
      const start = () => startNode('bench/dist/schedules/queue-worker.js', { ...variables, PACE: pace });
      const workers = [start(), start()];
      await Promise.all(workers.map((worker) => worker.waitFor(/ready/)));
      return workersOf(workers);
    },
    run: async (jobs) => {
      const startedAt = Date.now();
      await boss.insert([...jobs]);
      while ((await boss.getQueueSize(QUEUE, { before: 'completed' })) > 0) await wait(LOOK_MS);
      // As of the scheduler's occurrences, the time that the row of the last one tells.
      const { rows } = await client.query<{ ended: Date }>(
        'select max(completed_on) as ended from pgboss.job where name = $1',
        [QUEUE],
      );
      return (jobs.length * 1000) / ((rows[0]?.ended.getTime() ?? Number.NaN) - startedAt);
    },
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await boss.stop({ graceful: false });
    },
  };
}

function workersOf(workers: readonly NodeProcess[]): QueueWorkers {
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of workers) process.kill(pid, name);
  };
  return {
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      signal('SIGCONT');
      await Promise.all(workers.map((worker) => worker.end()));
    },
  };
}
