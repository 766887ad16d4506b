import { type Clock, startPollLoop } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { HeldPartitions } from '../ownership/partitions.js';
import { NotOwner, PARTITIONS, partitionOf } from '../ownership/partitions.js';
import { type DriveDependencies, driveRun } from './drive-run.js';

export interface RunKeeperOptions extends DriveDependencies {
  readonly held: Pick<HeldPartitions, 'all' | 'epochOf'>;
}

/** Sees to it that every run of the deployments owned here is taken to its end. */
export interface RunKeeper {
  /** Resolves when the run has ended, or rejects when another owner goes on with it. */
  drive(id: string, deploymentId: number): Promise<void>;
  /** A partition is not owned here any more. */
  abandon(partition: number): void;
  wake(): void;
  runOnce(): Promise<unknown>;
  stop(): Promise<void>;
}

/** How often rows are looked for that nobody drives, for instance since their owner died. */
const INTERVAL_MS = 1000;
/** Runs taken up in one look. */
const AT_ONCE = 200;
/** A run that has ended can be looked up for so long, in milliseconds. */
const KEPT_MS = 25 * 60 * 60 * 1000;

interface Driven {
  readonly partition: number;
  readonly leaving: AbortController;
  readonly ended: Promise<void>;
}

export function startRunKeeper(options: RunKeeperOptions): RunKeeper {
  const { db, held, clock, logger } = options;
  const driven = new Map<string, Driven>();

  const drive = (id: string, deploymentId: number): Promise<void> => {
    const known = driven.get(id);
    if (known !== undefined) return known.ended;
    const leaving = new AbortController();
    const ended = driveRun(options, id, leaving.signal).finally(() => driven.delete(id));
    driven.set(id, { partition: partitionOf(deploymentId), leaving, ended });
    return ended;
  };
  const runOnce = async () => {
    const partitions = held.all().map(({ partition }) => partition);
    const mine = partitions.filter((partition) => held.epochOf(partition) !== undefined);
    const found = await underWay(db, mine, [...driven.keys()]);
    for (const { id, deployment_id } of found) void drive(id, deployment_id).catch(report);
    await forgetOld(db, clock);
    return found.length === AT_ONCE ? ('more' as const) : ('idle' as const);
  };
  const report = (error: unknown) => {
    const isMeant = error instanceof NotOwner || (error as { name?: unknown }).name === 'AbortError';
    if (!isMeant) logger.warn({ err: error }, 'a run is left to the next look');
  };
  const loop = startPollLoop({ name: 'runs under way', intervalMs: INTERVAL_MS, runOnce, clock, logger });

  const leave = (leaving: readonly Driven[]) => {
    for (const one of leaving) one.leaving.abort();
    return Promise.allSettled(leaving.map(({ ended }) => ended));
  };
  return {
    drive,
    abandon: (partition) => void leave([...driven.values()].filter((one) => one.partition === partition)),
    wake: loop.wake,
    runOnce: loop.runOnce,
    stop: async () => {
      await loop.stop();
      await leave([...driven.values()]);
    },
  };
}

/** What is staged waits for its settlement, however long that takes: it is never taken for failed. */
const underWay = (db: Db, partitions: readonly number[], driven: readonly string[]) =>
  db
    .selectFrom('runs')
    .select(['id', 'deployment_id'])
    .where('ended_at', 'is', null)
    .where('state', '<>', 'staged')
    .where(sql<boolean>`deployment_id % ${PARTITIONS} = any(${[...partitions]})`)
    .where(sql<boolean>`not id = any(${[...driven]}::uuid[])`)
    .orderBy('deadline')
    .limit(AT_ONCE)
    .execute();

const forgetOld = (db: Db, clock: Clock) =>
  sql`delete from runs where ctid in (
    select ctid from runs where ended_at < ${new Date(clock.now() - KEPT_MS)} limit ${AT_ONCE})`.execute(db);
