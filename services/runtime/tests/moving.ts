import { createLogger, systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import type { KyselyPlugin } from 'kysely';
import { expect, vi } from 'vitest';
import {
  addDatabase,
  type MoveOptions,
  type MoveStep,
  openDirectory,
  openRuntimeDatabase,
} from '../src/operator.js';
import { type House, plantDeployment, prepareHouse } from './running-runtime.js';

const logger = createLogger({ service: 'test', level: 'error' });

export type Planted = Awaited<ReturnType<typeof plantDeployment>>;

/** Those at which a move can be stopped and carried on. */
export const STEPS = [
  'noted',
  'published',
  'subscribed',
  'in_step',
  'fenced',
  'flushed',
  'arrived',
  'switched',
] as const satisfies MoveStep[];

/** Two databases: deployments live in the first, which has the directory, and nothing in the second. */
export async function prepareTwo(made = prepareHouse()) {
  const house: House = await made;
  const first = house.databaseUrl;
  const second = house.resources.use('database', await createTestDatabase()).url;
  house.resources.add('what moves have left', () => dropReplication(first, second));
  const runtimes = [await house.boot()];
  const planted = await Promise.all(Array.from({ length: 4 }, () => plantDeployment(house)));
  const options = { logger, maxConnections: 2 };
  const source = house.resources.use('source', await openRuntimeDatabase({ ...options, databaseUrl: first }));
  const target = house.resources.use(
    'target',
    await openRuntimeDatabase({ ...options, databaseUrl: second }),
  );
  const directory = house.resources.use(
    'directory',
    await openDirectory({ databaseUrl: first, directoryUrl: undefined, applicationName: 'test', logger }),
  );
  await addDatabase(target.db, directory.db, '2');
  await query(first, `update directory.databases set added_at = now() - interval '1 hour'`);
  runtimes.push(await house.boot({ databaseUrl: second, directoryUrl: first }));
  for (const { context } of runtimes) await context.homes.read();
  // The second runtime finds deployments by their places.
  await vi.waitFor(async () =>
    expect(await query(first, 'select from directory.places')).toHaveLength(planted.length),
  );
  const between = {
    ...{
      source: source.db,
      target: target.db,
      directory: directory.db,
      sourceUrl: first,
      clock: systemClock,
    },
  };
  /** How the partition of a deployment moves. */
  const moving = ({ deployment }: Planted, more: Partial<MoveOptions> = {}): MoveOptions => ({
    ...between,
    partition: deployment.id % 64,
    ...more,
  });
  return { house, first, second, runtimes, planted, moving };
}

/** A test that failed may leave half a move: no database can be dropped then, and its workers are missing to other tests. */
async function dropReplication(...urls: string[]): Promise<void> {
  const ofThis = 'join pg_database d on d.oid = s.subdbid where d.datname = current_database()';
  for (const url of urls) {
    const found = await query<{ name: string }>(
      url,
      `select subname as name from pg_subscription s ${ofThis}`,
    );
    for (const { name } of found) {
      for (const what of ['disable', 'set (slot_name = none)'])
        await query(url, `alter subscription ${name} ${what}`);
      await query(url, `drop subscription ${name}`);
    }
  }
  const slots = 'pg_replication_slots where database = current_database()';
  // Those of workers that are just ending are in use for a moment.
  for (const url of urls)
    await vi.waitFor(() => query(url, `select pg_drop_replication_slot(slot_name) from ${slots}`));
}

/** Has a mover wait after a step, before it goes on with the first answer of the target, until it is let go. */
export function pausedAfter(options: MoveOptions, last: MoveStep) {
  const [reached, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isReached = false;
  const pausing: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isReached) await letGo.promise;
      return result;
    },
  };
  const onStep = (step: MoveStep) => {
    if (step !== last) return;
    isReached = true;
    reached.resolve();
  };
  const paused: MoveOptions = { ...options, target: options.target.withPlugin(pausing), onStep };
  return { options: paused, reached: reached.promise, letGo: letGo.resolve };
}

/** Executes at some deployments until it is stopped, and counts what each has acknowledged. */
export function startLoad(deployments: readonly Planted[]) {
  const acknowledged = new Map<Planted, number>(deployments.map((one) => [one, 0]));
  let stopped = false;
  const lane = async (one: Planted) => {
    while (!stopped) {
      await one.execute({ id: 'x' });
      acknowledged.set(one, (acknowledged.get(one) ?? 0) + 1);
    }
  };
  const lanes = Promise.all(deployments.flatMap((one) => [lane(one), lane(one)]));
  lanes.catch(() => undefined);
  return {
    acknowledged: (one: Planted): number => acknowledged.get(one) ?? 0,
    /** @throws what a call was refused with */
    stop: async (): Promise<void> => {
      stopped = true;
      await lanes;
    },
  };
}
