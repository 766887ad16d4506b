import type { HashedEntry, NotCheckedSeed } from '@orrery/contracts';
import { type BeaconChain, createRoundCheck, type SeedCounts } from '@orrery/deciding';
import { isSeedOf, type RandomnessKeys } from '../../../core/randomness/secrets.js';
import type { Db } from '../../tables/schema.js';
import { readSecrets } from './read-secrets.js';

/** What the service holds seeds of random numbers to, beside what the journal has revealed. */
export interface SeedKnowledge {
  readonly keys: RandomnessKeys;
  /** Undefined: it cannot be asked. */
  readonly beacon: () => Promise<BeaconChain | undefined>;
}

/**
 * Holds the seeds of entries to what the journal has committed to, and to the rounds of the beacon (docs/history.md "Random
 * numbers"). The operator's keys open secrets that are not revealed.
 */
export function createSeedCheck(
  db: Db,
  deployment: { readonly id: number; readonly address: string },
  { keys, beacon }: SeedKnowledge,
) {
  const counts: SeedCounts = { checked: 0, notChecked: {} };
  let secrets: ReturnType<typeof readSecrets> | undefined;
  let round: Promise<RoundCheck | undefined> | undefined;

  const left = (why: NotCheckedSeed): undefined => {
    counts.notChecked[why] = (counts.notChecked[why] ?? 0) + 1;
  };
  const isOfRound = async (entry: HashedEntry): Promise<boolean | undefined> => {
    round ??= beacon().then((chain) => chain && { chain, check: createRoundCheck(chain) });
    const known = await round;
    // Of another chain, or one that cannot be asked, nothing is known.
    if (known === undefined || known.chain.hash !== entry.randomness?.chain) return left('other_beacon');
    return known.check(entry);
  };
  const isOfSecret = async (entry: HashedEntry): Promise<boolean | undefined> => {
    secrets ??= readSecrets(db, deployment, keys);
    return isSeedOf(await secrets, entry) ?? left('unrevealed');
  };
  const holds = async (entry: HashedEntry): Promise<boolean | undefined> => {
    switch (entry.randomness?.source) {
      case 'drand':
        return isOfRound(entry);
      case 'deployment':
        return isOfSecret(entry);
      case 'replayed':
        // Nothing but a what-if fork repeats entries.
        return entry.replayOf === undefined ? false : left('replayed');
      case undefined:
        return undefined;
    }
  };
  return {
    counts,
    /** Whether the entry's seed is none that it may have. */
    differs: async (entry: HashedEntry): Promise<boolean> => {
      const answer = await holds(entry);
      if (answer !== undefined) counts.checked += 1;
      return answer === false;
    },
  };
}

interface RoundCheck {
  readonly chain: BeaconChain;
  readonly check: (entry: HashedEntry) => Promise<boolean>;
}
