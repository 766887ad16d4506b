import { connectBus } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import { createLogger, systemClock } from '@orrery/service-kit';
import PgBoss from 'pg-boss';

// A worker of pg-boss: takes jobs in batches of 100, and executes each through the RPC that the scheduler uses.

interface Job {
  readonly deployment: string;
  readonly event: string;
}

const BATCH = 100;
const QUEUE = 'ticks';
const { DATABASE_URL = '', NATS_URL = '' } = process.env;
const logger = createLogger({ service: 'queue-worker', level: 'error' });
const bus = await connectBus({ url: NATS_URL, service: 'scheduler', logger, clock: systemClock });
const boss = new PgBoss({ connectionString: DATABASE_URL, supervise: false, schedule: false });
await boss.start();
process.stdout.write('ready\n');
const execute = ({ id, data: { deployment, event } }: PgBoss.Job<Job>) =>
  bus.call(
    runtimeContract.rpcs['executions.forService'],
    {
      deployment,
      event,
      input: { n: 1 },
      trigger: 'cron',
      keys: [{ scope: 'occurrence', key: `bench ${id}` }],
      expected: null,
    },
    { caller: { kind: 'schedule', event }, requestId: id, deadline: Date.now() + 30_000 },
  );
for (;;) {
  const jobs = await boss.fetch<Job>(QUEUE, { batchSize: BATCH });
  if (jobs.length === 0) {
    await systemClock.sleep(100);
    continue;
  }
  await Promise.all(jobs.map(execute));
  await boss.complete(
    QUEUE,
    jobs.map(({ id }) => id),
  );
}
