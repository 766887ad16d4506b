import { type Bus, serviceCall } from '@orrery/bus';
import {
  type Cancellation,
  chainContract,
  type Handlers,
  type HistoryEntry,
  type historyRpcs,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';

export interface PushResultsDependencies {
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

type Reads = Handlers<Pick<typeof historyRpcs, 'history.list' | 'history.get'>>;

/** A reader of the history does not wait longer for the chain-pusher, in milliseconds. */
const PATIENCE_MS = 2000;

/**
 * Adds to history entries how their pushes stand. The chain-pusher stores that; it is asked once for a page, and only where
 * an entry has pushes.
 */
export const withPushResults = (dependencies: PushResultsDependencies, reads: Reads): Reads => ({
  'history.list': async (request, call) => {
    const page = await reads['history.list'](request, call);
    return { ...page, data: await filledIn(dependencies, page.data, call.signal) };
  },
  'history.get': async (request, call) => {
    const found = await reads['history.get'](request, call);
    const [data = found.data] = await filledIn(dependencies, [found.data], call.signal);
    return { ...found, data };
  },
});

async function filledIn(
  { bus, clock }: PushResultsDependencies,
  entries: HistoryEntry[],
  signal: Cancellation,
): Promise<HistoryEntry[]> {
  const pushed = entries.filter(({ pushes }) => pushes.length > 0);
  const [first] = pushed;
  if (first === undefined) return entries;
  const request = { deployment: first.deployment, historyIds: pushed.map(({ id }) => id) };
  const known = await bus
    .call(chainContract.rpcs['pushes.ofEntries'], request, serviceCall('runtime', clock, PATIENCE_MS, signal))
    // The history is there without the chain-pusher.
    .catch(() => undefined);
  const keyOf = (historyId: string, chain: string) => `${historyId} ${chain}`;
  const results = new Map(known?.pushes.map(({ historyId, push }) => [keyOf(historyId, push.chain), push]));
  return entries.map((entry) => ({
    ...entry,
    pushes: entry.pushes.map((push) => {
      if (known === undefined) return { ...push, status: 'unknown' as const };
      return results.get(keyOf(entry.id, push.chain)) ?? push;
    }),
  }));
}
