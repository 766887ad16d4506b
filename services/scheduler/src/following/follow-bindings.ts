import { serviceCall } from '@orrery/bus';
import {
  catalogChanged,
  catalogContract,
  lifecycleChanged,
  type ReplyOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import {
  behindOf,
  deploymentsOf,
  draftBindersOf,
  draftsAfter,
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
/** All journals are compared this often: a runtime of an older release does not note when they change. */
const WHOLE_PASS_MS = 60 * 60 * 1000;

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
  return [
    startPollLoop({
      ...shared,
      name: 'lifecycle heads',
      intervalMs: reconcileMs,
      runOnce: createHeadPass(dependencies),
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

type Heads = (typeof runtimeContract.rpcs)['journal.heads'];

/** Where the last pass began is stored: after days off, only what has changed since is compared. */
function createHeadPass(dependencies: FollowDependencies) {
  const { db, bus, clock, syncs } = dependencies;
  let wholePassAt = clock.monotonic();
  const pass = async (since: string | null, signal: AbortSignal) => {
    let until: string | undefined;
    for (let after: ReplyOf<Heads>['next'] = null; !signal.aborted; ) {
      const page: ReplyOf<Heads> = await bus.call(
        runtimeContract.rpcs['journal.heads'],
        { changedSince: since, after, limit: PAGE, of: 'lifecycle' },
        serviceCall('scheduler', clock, TIMEOUT_MS, signal),
      );
      until ??= page.until;
      const behind = await behindOf(db, page.heads);
      if (behind.length > 0) await syncs.want(behind);
      after = page.next;
      if (after === null) break;
    }
    if (until !== undefined && !signal.aborted) await storeProgress(db, until);
  };
  return (signal: AbortSignal) =>
    unlessAway(async () => {
      const isWhole = clock.monotonic() - wholePassAt >= WHOLE_PASS_MS;
      const startedAt = clock.monotonic();
      await pass(isWhole ? null : await readProgress(db), signal);
      if (isWhole) wholePassAt = startedAt;
    }, dependencies);
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
      { versions: drafts, schemas: [], worlds: [] },
      serviceCall('scheduler', clock, TIMEOUT_MS, signal),
    );
    const changed = drafts.filter((_, index) => versions[index]?.state !== 'same');
    if (changed.length > 0) await syncs.want(await deploymentsOf(db, changed));
    after = last.versionId;
  }
}
