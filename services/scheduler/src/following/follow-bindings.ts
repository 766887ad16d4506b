import { serviceCall } from '@orrery/bus';
import { catalogChanged, catalogContract, lifecycleChanged, ServiceError } from '@orrery/contracts';
import { readHeads } from '@orrery/service-host';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import {
  behindOf,
  deploymentsOf,
  draftBindersOf,
  draftsAfter,
  type Heads,
  readProgress,
  storeProgress,
} from '../store/syncs/followed-store.js';
import type { SchedulerContext } from './context.js';
import type { Syncs } from './start-syncs.js';

export interface FollowDependencies extends SchedulerContext {
  readonly syncs: Pick<Syncs, 'want'>;
  /** How often what the bus may have lost is looked for, in milliseconds. */
  readonly reconcileMs: number;
  /** How often drafts are compared with the catalog, in milliseconds. */
  readonly draftsMs: number;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
const PAGE = 1000;

/**
 * Notices which deployments may have changed what they have bound, or which definitions have changed. Broadcasts and
 * messages are hints; what they miss is found by comparing heads of lifecycles and hashes of drafts.
 */
export async function followBindings(dependencies: FollowDependencies): Promise<PollLoop[]> {
  const { bus, clock, logger, syncs, signal, reconcileMs, draftsMs } = dependencies;
  await bus.listen(
    lifecycleChanged,
    ({ deployments }) => {
      syncs.want(deployments).catch((error: unknown) => {
        logger.info({ err: error }, 'a change of bindings was not noted; the next comparison finds it');
      });
    },
    signal,
  );
  await bus.consume(catalogChanged, {
    consumer: 'scheduler-definitions',
    handle: async ({ subject, worldId, name }) => {
      if (subject === 'event_version') await syncs.want(await draftBindersOf(dependencies.db, worldId, name));
    },
    signal,
  });
  const shared = { clock, logger, signal };
  const compareHeads = createHeadComparison(dependencies);
  return [
    startPollLoop({
      ...shared,
      name: 'lifecycle heads',
      intervalMs: reconcileMs,
      runOnce: (stopping) => unlessAway(() => compareHeads(stopping), dependencies),
    }),
    startPollLoop({
      ...shared,
      name: 'drafts of schedules',
      intervalMs: draftsMs,
      runOnce: (stopping) => unlessAway(() => compareDrafts(dependencies, stopping), dependencies),
    }),
  ];
}

/** Other services that restart are asked again the next time. */
async function unlessAway(work: () => Promise<void>, { logger }: Pick<FollowDependencies, 'logger'>) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ServiceError && error.retryable)) throw error;
    logger.debug({ err: error }, 'another service does not answer about schedules');
  }
  return 'idle' as const;
}

/**
 * Compares all heads once in each process, page by page: journals that came back from a backup have heads that changed long
 * ago, as have those that a runtime of an older release wrote to. From then on, only what has changed since the last pass of
 * any process.
 */
function createHeadComparison({ db, bus, clock, syncs }: FollowDependencies) {
  const take = async (heads: Heads) => {
    const behind = await behindOf(db, heads);
    if (behind.length > 0) await syncs.want(behind);
  };
  let hasPassed = false;
  return async (signal: AbortSignal): Promise<void> => {
    const asked = { bus, clock, service: 'scheduler', of: 'lifecycle', take } as const;
    const until = await readHeads(asked, hasPassed ? await readProgress(db) : null, signal);
    if (until === null) return;
    hasPassed = true;
    await storeProgress(db, until);
  };
}

/** Asks the catalog, a page at a time, which of the drafts that are bound have changed. */
async function compareDrafts(
  { db, bus, clock, syncs }: FollowDependencies,
  signal: AbortSignal,
): Promise<void> {
  for (let after = 0; !signal.aborted; ) {
    const drafts = await draftsAfter(db, after, PAGE);
    const last = drafts.at(-1);
    if (last === undefined) return;
    const { versions } = await bus.call(
      catalogContract.rpcs['definitions.confirm'],
      { versions: drafts, schemas: [], worlds: [], sharing: true },
      serviceCall('scheduler', clock, TIMEOUT_MS, signal),
    );
    const changed = drafts.filter((_, index) => versions[index]?.state !== 'same');
    if (changed.length > 0) await syncs.want(await deploymentsOf(db, changed));
    after = last.versionId;
  }
}
