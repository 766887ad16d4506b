import { ServiceError } from '@orrery/contracts';
import { orderValue } from '@orrery/expressions';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { JournalForm } from '../../store/journal/journal-form.js';
import { type HeldPartitions, NotOwner } from '../../store/leases/leases.js';
import {
  deleteIndex,
  gatherStatistics,
  keptIndexes,
  type UnfinishedIndex,
  type UnindexedInstance,
  unfinishedIndexes,
  unindexedInstances,
} from '../../store/state/attribute-indexes.js';
import type { Db } from '../../store/tables/schema.js';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { WorkItem } from '../items/work-item.js';
import type { Lanes } from '../queue/lanes.js';
import { createComparison } from './compare-declared.js';

interface IndexKeeperOptions {
  readonly db: Db;
  readonly lanes: Lanes;
  readonly held: HeldPartitions;
  readonly catalog: Pick<CatalogClient, 'declaredIndexes'>;
  readonly journalForm: JournalForm;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How soon a deployment follows what its schemas declare, in milliseconds. */
const INTERVAL_MS = 5000;
/** Instances that one item brings into an index: other items of the deployment wait for its commit. */
const BUILT_AT_ONCE = 500;
/** An index with fewer instances is quickly sorted. */
const WORTH_STATISTICS = 2000;
const UNFINISHED_AT_ONCE = 100;
const TIMEOUT_MS = 30_000;

/**
 * Builds and drops the indexes of the deployments that this process owns (docs/adr/0051):
 *
 *   declared ─→ building ─ the lane keeps it from here on ─ all instances are in it ─→ complete
 *   not declared ─→ dropped ─ the lane has let go of it, no query reads it ─→ gone
 *
 * Both pass through the deployment's lane, so every change comes either before an instance is brought into the index or is
 * written to the index by its own commit. A new owner continues at `built_to`.
 */
export function startIndexKeeper(options: IndexKeeperOptions): PollLoop {
  const { db, held, journalForm, clock, logger } = options;
  const compare = createComparison(options);
  return startPollLoop({
    name: 'indexes of attributes',
    intervalMs: INTERVAL_MS,
    clock,
    logger,
    runOnce: async (signal) => {
      const partitions = held.all().map(({ partition }) => partition);
      if (partitions.length === 0 || !journalForm.keepsIndexes) return 'idle';
      // Whatever keeps them from being compared, what is unfinished goes on, and the next round compares.
      await compare(partitions, signal).catch((error: unknown) => {
        const isAway = error instanceof ServiceError && error.code === 'unavailable';
        const message = 'declared indexes were not compared; they are in the next round';
        logger[isAway ? 'info' : 'warn']({ err: error }, message);
      });
      for (let after = 0; ; ) {
        const unfinished = await unfinishedIndexes(db, partitions, after, UNFINISHED_AT_ONCE);
        for (const index of unfinished) await advance(options, index, signal);
        after = unfinished.at(-1)?.id ?? 0;
        if (unfinished.length < UNFINISHED_AT_ONCE) return 'idle';
      }
    },
  });
}

/** One that fails is tried again in the next round; others do not wait for it. */
async function advance(
  options: IndexKeeperOptions,
  index: UnfinishedIndex,
  signal: AbortSignal,
): Promise<void> {
  const { clock, logger } = options;
  const call = () => ({ deadline: clock.monotonic() + TIMEOUT_MS, signal });
  try {
    if (index.isDropped) await drop(options, index, call, signal);
    else await build(options, index, call);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof NotOwner || isGone(error)) return;
    logger.warn({ err: error, index: index.id }, 'an index could not be built or dropped; it is tried again');
  }
}

type Call = () => Pick<WorkItem<unknown>, 'deadline' | 'signal'>;

async function build({ db, lanes, clock, logger }: IndexKeeperOptions, index: UnfinishedIndex, call: Call) {
  const begun = clock.monotonic();
  let instances = 0;
  await lanes.submit(followItem(db, index, call));
  for (;;) {
    const built = await lanes.submit(buildItem(db, index, call));
    if (built === undefined) return;
    instances += built.added;
    if (built.isComplete) break;
  }
  if (instances >= WORTH_STATISTICS) await gatherStatistics(db);
  const { deploymentId, entitySchema, attribute } = index;
  const ms = Math.round(clock.monotonic() - begun);
  logger.info(
    { deploymentId, entitySchema, attribute, instances, ms },
    'an index of an attribute is complete',
  );
}

async function drop(
  { db, lanes }: IndexKeeperOptions,
  index: UnfinishedIndex,
  call: Call,
  signal: AbortSignal,
): Promise<void> {
  await lanes.submit(followItem(db, index, call)).catch((error: unknown) => {
    // Nothing of a deleted deployment is committed any more.
    if (!isGone(error)) throw error;
  });
  if (index.isUnread) await deleteIndex(db, index.id, signal);
}

const isGone = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'deployment_not_found';

/** Once it is answered, all commits of the deployment keep exactly the indexes that are stored. */
function followItem(db: Db, { deploymentId }: UnfinishedIndex, call: Call): WorkItem<null> {
  let kept: Awaited<ReturnType<typeof keptIndexes>> = [];
  return {
    deploymentId,
    ...call(),
    prepare: async () => {
      kept = await keptIndexes(db, deploymentId);
    },
    decide: (state) => {
      state.indexes = kept;
      return { kind: 'answer', answer: null };
    },
  };
}

interface Built {
  readonly added: number;
  readonly isComplete: boolean;
}

/**
 * Brings the next instances into the index, as they are in memory or, where nothing has changed them, in the database.
 * Answers undefined when the index was dropped meanwhile.
 */
function buildItem(db: Db, index: UnfinishedIndex, call: Call): WorkItem<Built | undefined> {
  let found: UnindexedInstance[] = [];
  return {
    deploymentId: index.deploymentId,
    ...call(),
    prepare: async () => {
      found = await unindexedInstances(db, index, BUILT_AT_ONCE);
    },
    decide: ({ indexes, instances }) => {
      if (!indexes.some(({ id }) => id === index.id)) return { kind: 'answer', answer: undefined };
      const values = found.flatMap(({ instanceId, value }) => {
        const known = instances.get(index.entitySchema, instanceId);
        if (known === null) return [];
        return { instanceId, value: orderValue(known === undefined ? value : known.state[index.attribute]) };
      });
      const isComplete = found.length < BUILT_AT_ONCE;
      const built = { indexId: index.id, values, builtTo: found.at(-1)?.id ?? 0, isComplete };
      return { kind: 'answer', built, answer: { added: values.length, isComplete } };
    },
  };
}
