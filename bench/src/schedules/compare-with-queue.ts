import { Resources } from '@orrery/service-kit';
import { builtProgram, startNode } from '@orrery/testing/system';
import type { Client } from 'pg';
import { type Measurement, reportOf } from '../report.js';
import { type BenchQueue, PACES, type QueueJob } from './bench-queue.js';
import { beside, dispatched, dueSoon, type Load, show } from './dispatch.js';

interface Comparison {
  readonly client: Client;
  readonly queue: BenchQueue;
  readonly jobs: readonly QueueJob[];
  readonly load: Load;
  readonly rounds: number;
  /** Of the schedulers. */
  readonly variables: Record<string, string>;
  readonly write: (line: string) => void;
}

/** As fast as possible: nothing bounds the rate, and as many places as it takes. */
const UNBOUNDED = { SCHEDULE_PER_SECOND: '10000', SCHEDULE_CONCURRENCY: '400' };
/** Turns of the same processes. */
const TURNS = ['new processes', 'the same processes'] as const;

/**
 * Two schedulers, as fast as possible, in turns with two workers of pg-boss that make the same calls in a loop. Both sides
 * have new processes in each round, which take two turns. The workers, which look for jobs all the time, stand still while the
 * schedulers have their turn.
 */
export async function compareWithQueue(comparison: Comparison): Promise<void> {
  const measured = TURNS.map((turn) => ({
    queue: { name: `pg-boss, ${turn}`, values: [] as number[] },
    schedulers: { name: `schedulers, ${turn}`, values: [] as number[] },
  }));
  for (let round = 0; round < comparison.rounds; round += 1) {
    await using resources = new Resources();
    const start = () =>
      resources.use(
        'scheduler',
        startNode(builtProgram('scheduler'), { ...comparison.variables, ...UNBOUNDED }),
      );
    await Promise.all([start(), start()].map((one) => one.waitFor(/"msg":"started"/)));
    const workers = resources.use('workers', await comparison.queue.startWorkers('loop'));
    for (const { queue, schedulers } of measured) {
      workers.pause();
      await takeTurn(comparison, schedulers);
      workers.resume();
      await takeQueueTurn(comparison, queue);
    }
  }
  for (const { queue, schedulers } of measured) comparison.write(reportOf([queue, schedulers]));
}

async function takeTurn(
  { client, jobs, load, write }: Comparison,
  { name, values }: Measurement,
): Promise<void> {
  const at = await dueSoon(client);
  const { rate, line } = await dispatched(client, { at, count: jobs.length, load });
  values.push(rate);
  write(`${name}, as fast as possible: ${line}`);
}

async function takeQueueTurn(
  { queue, jobs, load, write }: Comparison,
  { name, values }: Measurement,
): Promise<void> {
  const [api, rate] = await beside(load, () => queue.run(jobs));
  values.push(rate);
  write(`${name}, ${PACES.loop}: ${Math.round(rate)}/s; API ${show(api)}`);
}
