import type { PushPlan } from '@orrery/contracts';
import type { Batch } from '../state/batch.js';
import type { SealedEntry } from './entry.js';

/** A committed entry with what its fact tells beside it. */
export interface RecentEntry {
  readonly entry: SealedEntry;
  readonly worldAddress: string;
  readonly pushes: PushPlan | null;
}

/**
 * What this process committed and its relay has not asked for yet, by entry id. The database gives an id to one entry
 * only, and only what is committed comes here, so an id that is found means the entry that the journal has.
 */
export interface RecentEntries {
  /** A batch that is known to be committed. */
  keep(batch: Pick<Batch, 'entries' | 'deployments'>): void;
  /** Lets go of it too: a relay that asks again reads the database. */
  take(id: string): RecentEntry | undefined;
}

export interface RecentLimits {
  readonly maxEntries: number;
  /** Bytes that all of them take, roughly. */
  readonly maxBytes: number;
}

const LIMITS: RecentLimits = { maxEntries: 4000, maxBytes: 16 * 1024 * 1024 };

/** What an entry takes beside its JSON; each character is there as text, again in the members, and in their texts. */
const ENTRY_BYTES = 1000;
const BYTES_PER_CHARACTER = 4;

/**
 * Bounded, because nobody asks for what the relay of another process has published or what it found before the
 * commit's answer came: the oldest are dropped.
 */
export function createRecentEntries({ maxEntries, maxBytes }: RecentLimits = LIMITS): RecentEntries {
  const kept = new Map<string, RecentEntry>();
  let bytes = 0;
  const take = (id: string) => {
    const found = kept.get(id);
    if (found === undefined) return undefined;
    kept.delete(id);
    bytes -= roughBytes(found);
    return found;
  };
  const dropOldest = () => {
    for (const id of kept.keys()) {
      if (kept.size <= maxEntries && bytes <= maxBytes) return;
      take(id);
    }
  };
  return {
    take,
    keep: ({ entries, deployments }) => {
      for (const { deploymentId, entry, effects } of entries) {
        const worldAddress = deployments.get(deploymentId)?.row.world_address;
        if (worldAddress === undefined) continue;
        const recent = { entry, worldAddress, pushes: effects.pushes ?? null };
        kept.set(entry.id, recent);
        bytes += roughBytes(recent);
      }
      dropOldest();
    },
  };
}

const roughBytes = ({ entry }: RecentEntry): number => ENTRY_BYTES + BYTES_PER_CHARACTER * entry.text.length;
