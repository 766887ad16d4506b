import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { ungrownTrees } from '../../store/journal/merkle-trees.js';
import type { RuntimeContext } from '../context.js';

const INTERVAL_MS = 30_000;
const AT_ONCE = 100;
/** A commit notes the minute in which it began, and may become visible later. */
const MARGIN_MINUTES = 2;
const MINUTE_MS = 60_000;
const START = { minute: 0, deploymentId: 0 };

/**
 * Adds to the trees of journals what came since, so that whoever asks for a checkpoint does not wait. Each process looks at
 * all journals: first at every one, then at those with new entries, which processes of the release before write too.
 */
export function startGrowingTrees({
  db,
  clock,
  logger,
  growTree,
}: Pick<RuntimeContext, 'db' | 'clock' | 'logger' | 'growTree'>): PollLoop {
  /** Where this pass is, and the first minute of the next one. */
  let at = START;
  let next = 0;
  return startPollLoop({
    name: 'Merkle trees',
    intervalMs: INTERVAL_MS,
    clock,
    logger,
    runOnce: async (signal) => {
      if (at.deploymentId === 0) next = Math.floor(clock.now() / MINUTE_MS) - MARGIN_MINUTES;
      const found = await ungrownTrees(db, at, AT_ONCE);
      for (const { deploymentId, entries } of found)
        await growTree(deploymentId, entries, { signal, isEnough: () => false }).catch((error: unknown) => {
          if (signal.aborted) throw error;
          logger.error({ err: error, deploymentId }, 'a Merkle tree cannot be computed');
        });
      const last = found.length < AT_ONCE ? undefined : found.at(-1);
      at = last ?? { minute: next, deploymentId: 0 };
      return last === undefined ? 'idle' : 'more';
    },
  });
}
