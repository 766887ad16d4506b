import { startPollLoop } from '@orrery/service-kit';
import { type HeldPartitions, NotOwner, partitionOf } from '../../store/leases/partitions.js';
import { RUNS_AT_ONCE, undriven } from '../../store/runs/run-store.js';
import { type DriveDependencies, driveRun } from './drive-run.js';

interface RunKeeperOptions extends DriveDependencies {
  readonly held: Pick<HeldPartitions, 'all' | 'epochOf'>;
}

/** Drives every run of the deployments owned here to its end. */
export interface RunKeeper {
  /** Resolves when the run has ended or awaits its payment; rejects when another owner continues it. */
  drive(id: string, deploymentId: number): Promise<void>;
  /** Stops driving the runs of a partition that is not owned here any more. */
  abandon(partition: number): void;
  wake(): void;
  runOnce(): Promise<unknown>;
  stop(): Promise<void>;
}

const INTERVAL_MS = 1000;

interface Driven {
  readonly partition: number;
  readonly stopping: AbortController;
  readonly ended: Promise<void>;
  /** The caller of the run has its answer. */
  readonly answered: Promise<void>;
}

export function startRunKeeper(options: RunKeeperOptions): RunKeeper {
  const { db, held, clock, logger } = options;
  const driven = new Map<string, Driven>();

  const drive = (id: string, deploymentId: number): Promise<void> => {
    const known = driven.get(id);
    if (known !== undefined) return known.answered;
    const stopping = new AbortController();
    let onAwaiting = () => {};
    const awaiting = new Promise<void>((resolve) => {
      onAwaiting = resolve;
    });
    const ended = driveRun(options, id, stopping.signal, onAwaiting).finally(() => driven.delete(id));
    const answered = Promise.race([ended, awaiting]);
    driven.set(id, { partition: partitionOf(deploymentId), stopping, ended, answered });
    // What goes wrong after the answer is reported as for a run that nobody waits for.
    void awaiting.then(() => ended).catch(report);
    return answered;
  };
  const runOnce = async () => {
    const partitions = held.all().map(({ partition }) => partition);
    const mine = partitions.filter((partition) => held.epochOf(partition) !== undefined);
    const found = await undriven(db, mine, [...driven.keys()]);
    for (const { id, deployment_id } of found) void drive(id, deployment_id).catch(report);
    return found.length === RUNS_AT_ONCE ? ('more' as const) : ('idle' as const);
  };
  const report = (error: unknown) => {
    const isExpected = error instanceof NotOwner || (error as { name?: unknown }).name === 'AbortError';
    if (!isExpected) logger.warn({ err: error }, 'a run could not be driven; the next search takes it up');
  };
  const loop = startPollLoop({ name: 'open runs', intervalMs: INTERVAL_MS, runOnce, clock, logger });

  const release = (released: readonly Driven[]) => {
    for (const { stopping } of released) stopping.abort();
    return Promise.allSettled(released.map(({ ended }) => ended));
  };
  return {
    drive,
    abandon: (partition) => void release([...driven.values()].filter((one) => one.partition === partition)),
    wake: loop.wake,
    runOnce: loop.runOnce,
    stop: async () => {
      await loop.stop();
      await release([...driven.values()]);
    },
  };
}
