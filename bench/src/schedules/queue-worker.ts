import { connectBus } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import { createLogger, startTelemetry, systemClock } from '@orrery/service-kit';
import PgBoss from 'pg-boss';
import type { QueueJob } from './bench-queue.js';

// A worker of pg-boss: takes jobs in batches of 100, and makes the call of each that the scheduler would make, with metrics as
// every service has them. `PACE`: `polling` takes a batch as pg-boss's own worker does, every half second, its least; `loop` as
// soon as the last one is done.

type Job = QueueJob['data'];

const BATCH = 100;
const QUEUE = 'ticks';
const { DATABASE_URL = '', NATS_URL = '', PACE = 'loop' } = process.env;
const logger = createLogger({ service: 'queue-worker', level: 'error' });
await startTelemetry({ service: 'queue-worker', tracing: false, metrics: true });
const bus = await connectBus({ url: NATS_URL, service: 'scheduler', logger, clock: systemClock });
const boss = new PgBoss({ connectionString: DATABASE_URL, supervise: false, schedule: false });
await boss.start();
process.stdout.write('ready\n');
const execute = ({ id, data: { deployment, event, input, expected } }: PgBoss.Job<Job>) =>
  bus.call(
    runtimeContract.rpcs['executions.forService'],
    {
      deployment,
      event,
      input,
      trigger: 'cron',
      keys: [{ scope: 'occurrence', key: `${deployment}/${id}/1/${event}` }],
      expected,
    },
    {
      caller: { kind: 'schedule', event },
      requestId: crypto.randomUUID(),
      deadline: Date.now() + 15_000,
      leavesRun: true,
    },
  );
const executeAll = (jobs: PgBoss.Job<Job>[]) => Promise.all(jobs.map(execute));

if (PACE === 'polling') await boss.work(QUEUE, { batchSize: BATCH, pollingIntervalSeconds: 0.5 }, executeAll);
else
  for (;;) {
    const jobs = await boss.fetch<Job>(QUEUE, { batchSize: BATCH });
    if (jobs.length === 0) {
      await systemClock.sleep(100);
      continue;
    }
    await executeAll(jobs);
    await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    );
  }
