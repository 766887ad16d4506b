import { type Bus, isUnreached, serviceCall } from '@orrery/bus';
import {
  type CallContext,
  defineMessage,
  type NamedRpc,
  parseReference,
  type ReplyOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { DeploymentDirectory } from '../../store/deployments/deployment-directory.js';
import { type HomeMap, isHere, readHomeMap } from '../../store/leases/homes.js';
import { partitionOf } from '../../store/leases/leases.js';
import { placeOf } from '../../store/leases/places.js';
import type { DirectoryDb } from '../../store/tables/directory.js';
import type { Db } from '../../store/tables/schema.js';

/** Broadcast by each process, every second while there are several databases: it serves what lives in this one. */
export const homeServed = defineMessage(
  'runtime',
  'home-served',
  z.strictObject({ instance: z.string(), database: z.string() }),
);

/** How often the directory is read again, in milliseconds. What it says of a moved partition may be as old. */
const READ_MS = 2000;
const SERVED_MS = 1000;
/** A process that has not been heard for so long is not called, in milliseconds. */
const SILENT_MS = 4000;
/**
 * How long a call waits for a process of its home, in milliseconds: this one may have heard nobody yet, and that one may not
 * know yet that there are several.
 */
const WAIT_MS = 5000;
const RETRY_MS = 50;
const MAX_PLACES = 50_000;
const find = runtimeContract.rpcs['homes.find'];

const ONE: HomeMap = { databases: [], names: new Map(), homes: new Map(), uncompared: new Set() };

interface HomesDependencies {
  /** The id of this process's database. */
  readonly id: string;
  readonly instance: string;
  readonly db: Db;
  readonly directory: DirectoryDb;
  readonly deployments: Pick<DeploymentDirectory, 'byAddress'>;
  /** Called before this process notices that there are several databases. */
  readonly onSeveral: () => Promise<void>;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export type Homes = Awaited<ReturnType<typeof followHomes>>;

/**
 * Where deployments live, as this process last read it, and calls of the processes that serve other databases. It reads the
 * directory again every two seconds; with one database no call asks it.
 */
export async function followHomes(dependencies: HomesDependencies) {
  const { id, db, directory, deployments, clock, logger } = dependencies;
  let known: HomeMap = ONE;
  const isOnly = () => known.databases.length <= 1;
  const read = async () => {
    const now = await readHomeMap(directory);
    if (isOnly() && now.databases.length > 1) await dependencies.onSeveral();
    known = now;
  };
  // Before any loop runs: a start that fails here leaves none behind.
  await read();
  const servers = await followServers(dependencies, () => !isOnly());
  const reading = startPollLoop({
    name: 'homes of partitions',
    intervalMs: READ_MS,
    maxBackoffMs: READ_MS,
    clock,
    logger,
    runOnce: async () => {
      await read();
      return 'idle';
    },
  });
  /** The directory may lack places while there have been several databases for a short time, and after a restore. */
  const askUncompared = async (address: string): Promise<number | undefined> => {
    const others = [...known.uncompared].filter((database) => database !== id);
    const call = { ...serviceCall('runtime', clock, WAIT_MS), signal: dependencies.signal };
    const found = await Promise.all(others.map((one) => servers.call(find, { address }, call, one)));
    return found.find((one) => one.id !== null)?.id ?? undefined;
  };
  const places = new LRUCache<string, number>({ max: MAX_PLACES });
  const idOf = async (reference: string): Promise<number | undefined> => {
    const parsed = parseReference(reference);
    if (parsed === undefined) return undefined;
    if ('id' in parsed) return parsed.id;
    const known = places.get(parsed.address);
    if (known !== undefined) return known;
    const asked = deployments.byAddress(reference);
    // The directory knows those of other databases also while this process's own is away.
    const here = await asked.catch(() => undefined);
    const found =
      here?.id ?? (await placeOf(directory, parsed.address)) ?? (await askUncompared(parsed.address));
    if (found === undefined) await asked;
    else places.set(parsed.address, found);
    return found;
  };
  /** Once in the database that the directory names: one that is on its way is waited for. @throws `unavailable` */
  const homeNow = async (partition: number, { deadline, signal }: CallContext): Promise<string> => {
    for (;;) {
      if (await isHere(db, partition)) return id;
      await read();
      const home = known.homes.get(partition) ?? id;
      if (home !== id) return home;
      if (clock.monotonic() >= deadline) throw new ServiceError('unavailable', MOVING);
      await clock.sleep(RETRY_MS, signal);
    }
  };
  return {
    id,
    /** Whether a partition is in this process's database now, whatever was read before. With one database all are. */
    isHere: async (partition: number): Promise<boolean> => isOnly() || (await isHere(db, partition)),
    /** The database of a deployment that was not found in this one, once it is in one. `undefined` for one that nobody knows. */
    homeInTheEnd: async (reference: string, call: CallContext): Promise<string | undefined> => {
      const deploymentId = await idOf(reference);
      return deploymentId === undefined ? undefined : homeNow(partitionOf(deploymentId), call);
    },
    /** All deployments live in this process's database. */
    isOnly,
    /** The places of all deployments of this process's database are in the directory. */
    isCompared: (): boolean => !known.uncompared.has(id),
    directory,
    /** All databases, in the order of their ids. */
    all: (): readonly string[] => known.databases,
    /** How the directory calls a database. */
    nameOf: (database: string): string => known.names.get(database) ?? database,
    /** Whether a process of a database is heard. */
    isServed: (database: string): boolean => database === id || servers.isHeard(database),
    /** Whether no process of a database is heard, although this one has listened for long enough. */
    isAway: (database: string): boolean => database !== id && servers.isAway(database),
    /** The partitions that live in a database. */
    partitionsOf: (database: string): number[] =>
      [...known.homes].flatMap(([partition, home]) => (home === database ? [partition] : [])),
    homeOfId: (deploymentId: number): string => known.homes.get(partitionOf(deploymentId)) ?? id,
    /** The database of a deployment; `undefined` for one that nobody knows. */
    homeOf: async (reference: string): Promise<string | undefined> => {
      const deploymentId = await idOf(reference);
      return deploymentId === undefined ? undefined : known.homes.get(partitionOf(deploymentId));
    },
    /** Reads the directory now. */
    read,
    /** @throws `unavailable` when no process serves the database; otherwise what the call throws */
    call: <R extends NamedRpc>(
      rpc: R,
      request: z.input<R['request']>,
      call: CallContext,
      database: string,
    ): Promise<ReplyOf<R>> => servers.call(rpc, request, call, database),
    stop: async (): Promise<void> => {
      await reading.stop();
      await servers.stop();
    },
  };
}

/** Who serves which database, by their broadcasts. */
async function followServers(
  { id, instance, bus, clock, logger, signal }: HomesDependencies,
  areSeveral: () => boolean,
) {
  const heard = new Map<string, { readonly database: string; readonly at: number }>();
  /** Since when, and when last, this process has heard itself: for so long it would have heard others. */
  const own = { since: Number.POSITIVE_INFINITY, at: Number.NEGATIVE_INFINITY };
  await bus.listen(
    homeServed,
    (one) => {
      const at = clock.monotonic();
      if (one.instance !== instance) return void heard.set(one.instance, { database: one.database, at });
      if (at - own.at > SILENT_MS) own.since = at;
      own.at = at;
    },
    signal,
  );
  const telling: PollLoop = startPollLoop({
    name: 'broadcasts of homes',
    intervalMs: SERVED_MS,
    maxBackoffMs: SERVED_MS,
    clock,
    logger,
    runOnce: async () => {
      if (areSeveral()) await bus.broadcast(homeServed, { instance, database: id });
      return 'idle';
    },
  });
  let turn = 0;
  const servingNow = (database: string): string[] => {
    const since = clock.monotonic() - SILENT_MS;
    for (const [name, { at }] of heard) if (at < since) heard.delete(name);
    return [...heard].flatMap(([name, one]) => (one.database === database ? [name] : []));
  };
  const choose = (database: string): string | undefined => {
    const serving = servingNow(database);
    turn += 1;
    return serving[turn % serving.length];
  };
  const call = async <R extends NamedRpc>(
    rpc: R,
    request: z.input<R['request']>,
    context: CallContext,
    database: string,
  ): Promise<ReplyOf<R>> => {
    const until = Math.min(context.deadline, clock.monotonic() + WAIT_MS);
    for (;;) {
      const chosen = choose(database);
      if (chosen !== undefined) {
        try {
          return await bus.call(rpc, request, { ...context, home: database, instance: chosen });
        } catch (error) {
          if (!isUnreached(error)) throw error;
          heard.delete(chosen);
          continue;
        }
      }
      if (clock.monotonic() >= until) throw new ServiceError('unavailable', AWAY);
      await clock.sleep(RETRY_MS, context.signal);
    }
  };
  return {
    call,
    isHeard: (database: string): boolean => servingNow(database).length > 0,
    isAway: (database: string): boolean =>
      clock.monotonic() - own.at <= SILENT_MS &&
      clock.monotonic() - own.since > WAIT_MS &&
      servingNow(database).length === 0,
    stop: () => telling.stop(),
  };
}

const MOVING = 'The deployment is being moved to another database. Try again.';
const AWAY = 'No process serves the database of some of these deployments. Try again.';
