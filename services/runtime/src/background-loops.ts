import { type Database, startKeySweep } from '@orrery/database';
import type { CheckResult, PollLoop, Resources } from '@orrery/service-kit';
import type { RuntimeConfig } from './config.js';
import type { RuntimeDependencies } from './create-context.js';
import { startIndexKeeper } from './lane/indexes/index-keeper.js';
import { startRaisingGenerations } from './lane/ownership/raise-generations.js';
import type { RuntimeContext } from './operations/context.js';
import { startFollowingOperator } from './operations/deployments/pauses.js';
import { startComparingPlaces } from './operations/deployments/places.js';
import { startWhatIfSweep } from './operations/deployments/what-if-forks.js';
import { startGrowingTrees } from './operations/history/growing-merkle-trees.js';
import { startFollowingModelFile } from './runs/models/model-file.js';
import { startReconciliation } from './runs/payments/reconcile.js';
import { startOnceKeySweep } from './store/runs/once-store.js';
import { startRunSweep } from './store/runs/run-store.js';
import type { DirectorySchema } from './store/tables/directory.js';

const KEY_SWEEP_MS = 60_000;
const RUN_SWEEP_MS = 5000;

/** Starts what a process does beside its answers and its lanes. */
export function startBackgroundLoops(
  context: RuntimeContext,
  resources: Resources,
): { readonly indexes: PollLoop } {
  const { db, clock, logger } = context;
  const indexes = startIndexKeeper(context);
  const loops = {
    'operator pauses': startFollowingOperator(context),
    'idempotency key sweep': startKeySweep(db, { clock, logger, intervalMs: KEY_SWEEP_MS }),
    'once-key sweep': startOnceKeySweep(db, { clock, logger, intervalMs: KEY_SWEEP_MS }),
    'ended runs sweep': startRunSweep(db, { clock, logger, intervalMs: RUN_SWEEP_MS }),
    'payment reconciliation': startReconciliation(context),
    'places of deployments': startComparingPlaces(context),
    'what-if sweep': startWhatIfSweep(context),
    'indexes of attributes': indexes,
    'Merkle trees': startGrowingTrees(context),
  };
  for (const [name, loop] of Object.entries(loops)) resources.add(name, () => loop.stop());
  return { indexes };
}

/** Follows the operator's list of models, where there is one. */
export function followModelFile(
  context: RuntimeContext,
  { modelFile }: RuntimeConfig,
  resources: Resources,
): void {
  if (modelFile === undefined) return;
  const host = process.stdout.isTTY ? undefined : process;
  const list = startFollowingModelFile({ ...context, file: modelFile, host });
  resources.add('AI models file', () => list.stop());
}

/** What a directory in a database of its own needs: generations that are raised, and its part in what the health says. */
export function watchDirectoryElsewhere(
  context: RuntimeContext,
  { directory, instance }: { readonly directory: Database<DirectorySchema>; readonly instance: string },
  { health }: RuntimeDependencies,
  resources: Resources,
): void {
  const { db, clock, logger } = context;
  const raising = startRaisingGenerations({ db, directory: directory.db, instance, clock, logger });
  resources.add('generations of partitions', () => raising.stop());
  const check = () => checkDirectory(directory);
  resources.add('directory check', health.register('runtime directory', check));
}

/** Without it leases that are held are renewed, and no others are taken. */
async function checkDirectory({ ping }: Pick<Database<unknown>, 'ping'>): Promise<CheckResult> {
  const { takesWrites } = await ping().catch(() => ({ takesWrites: false }));
  return takesWrites ? { status: 'ok' } : { status: 'degraded', detail: 'deployments get no other owner' };
}
