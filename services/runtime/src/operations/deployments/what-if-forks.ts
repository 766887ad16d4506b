import { serviceCall } from '@orrery/bus';
import type { CallContext } from '@orrery/contracts';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { unusedForks } from '../../store/deployments/what-if-store.js';
import { partitionOf } from '../../store/leases/leases.js';
import type { RuntimeContext } from '../context.js';
import { changeItem } from './handlers.js';

/** A fork that is not kept and in which nothing has happened for this long is deleted, in milliseconds. */
const UNUSED_MS = 60 * 60_000;
const INTERVAL_MS = 60_000;
const TIMEOUT_MS = 10_000;
const AT_ONCE = 100;

/** Deletes what-if forks whose replay was killed: whoever makes one deletes it at the end. */
export function startWhatIfSweep(context: RuntimeContext): PollLoop {
  const { db, clock, logger } = context;
  return startPollLoop({
    name: 'what-if sweep',
    intervalMs: INTERVAL_MS,
    clock,
    logger,
    runOnce: async (signal) => {
      const unused = await unusedForks(db, UNUSED_MS, AT_ONCE);
      await Promise.all(unused.map((fork) => askOwner(context, fork, signal)));
      return unused.length < AT_ONCE ? 'idle' : 'more';
    },
  });
}

function askOwner(
  context: RuntimeContext,
  { id, address }: { readonly id: number; readonly address: string },
  signal: AbortSignal,
): Promise<null> {
  const call: CallContext = { ...serviceCall('runtime', context.clock, TIMEOUT_MS), signal };
  const request = { address };
  const here = () => deleteUnused(context, request, call);
  return context.route({ name: 'whatIf.sweep', partition: partitionOf(id), request, here }, call);
}

/** At the owner; it may have been kept meanwhile. @throws NotOwner */
export async function deleteUnused(
  { lanes, directory, catalog }: RuntimeContext,
  { address }: { readonly address: string },
  call: CallContext,
): Promise<null> {
  const fork = await directory.byAddress(address);
  if (fork === undefined) return null;
  const { changed } = await lanes.submit(
    changeItem(fork, call, ({ row }, at) =>
      row.is_kept === false ? { kind: 'deleted', facts: {}, columns: { deleted_at: at } } : undefined,
    ),
  );
  // The catalog's sweep releases what is left.
  if (changed) await catalog.release(address).catch(() => undefined);
  return null;
}
