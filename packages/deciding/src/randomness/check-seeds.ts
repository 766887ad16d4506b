import {
  canonicalHash,
  type HashedEntry,
  isJsonObject,
  type JsonObject,
  type NotCheckedSeed,
} from '@orrery/contracts';
import { type BeaconChain, chainOf, createRoundCheck, QUICKNET, QUICKNET_HASH } from './beacon.js';
import { bytesOf, commitmentOf, seedOf } from './seed.js';

/** What became of the seeds of random numbers so far. */
export interface SeedCounts {
  checked: number;
  notChecked: Partial<Record<NotCheckedSeed, number>>;
}

/** What a seed has to be made of once its secret is revealed. */
interface Waiting {
  readonly seq: number;
  readonly run: string;
  readonly inputHash: string;
  readonly seed: string;
}

/**
 * Holds the seeds of a whole journal, in its order, to what it has committed to and revealed, and to the rounds of the beacon
 * (docs/history.md "Random numbers"). What is not revealed yet refutes nothing, and is counted. `chain`: the beacon that is
 * known, quicknet unless another one is given.
 */
export function createSeedCheck(chain: BeaconChain | undefined = chainOf(QUICKNET, QUICKNET_HASH)) {
  const counts: SeedCounts = { checked: 0, notChecked: {} };
  /** By the commitment; undefined: the secret is revealed. */
  const secrets = new Map<string, Waiting[] | undefined>();
  const isSeedOfRound = chain && createRoundCheck(chain);

  const left = (why: NotCheckedSeed, by: number): undefined => {
    const count = (counts.notChecked[why] ?? 0) + by;
    if (count > 0) counts.notChecked[why] = count;
    else delete counts.notChecked[why];
  };
  /** The seq of the first entry whose seed is not made of a secret that an entry reveals. */
  const reveal = (told: unknown): number | undefined => {
    const { commitment, secret }: JsonObject = isJsonObject(told) ? told : {};
    const bytes = bytesOf(String(secret));
    const waiting = secrets.get(String(commitment));
    // What is told of another commitment reveals nothing.
    if (waiting === undefined || commitmentOf(bytes) !== commitment) return undefined;
    secrets.set(commitment, undefined);
    left('unrevealed', -waiting.length);
    counts.checked += waiting.length;
    return waiting.find(({ run, inputHash, seed }) => seedOf(bytes, run, inputHash) !== seed)?.seq;
  };
  /** Whether the entry names no secret that is committed to and not revealed. */
  const isUncommitted = ({ seq, randomness, input }: HashedEntry): boolean => {
    const { commitment = '', run = '', seed = '' } = randomness ?? {};
    const waiting = secrets.get(commitment);
    waiting?.push({ seq, run, seed, inputHash: canonicalHash(input) });
    if (waiting !== undefined) left('unrevealed', 1);
    return waiting === undefined;
  };
  const differs = (entry: HashedEntry): boolean | Promise<boolean> => {
    const { source, chain: named } = entry.randomness ?? {};
    switch (source) {
      case 'deployment':
        return isUncommitted(entry);
      case 'replayed':
        // Nothing but a what-if fork repeats entries.
        if (entry.replayOf === undefined) return true;
        left('replayed', 1);
        return false;
      case 'drand':
        if (isSeedOfRound === undefined || named !== chain?.hash) {
          left('other_beacon', 1);
          return false;
        }
        counts.checked += 1;
        return isSeedOfRound(entry).then((isSeed) => !isSeed);
      case undefined:
        return false;
    }
  };

  return {
    counts,
    /**
     * The seq of an entry whose seed does not hold: this one, or one whose secret it reveals. Undefined: all hold. It waits for
     * the check of a round.
     */
    check: (entry: HashedEntry): number | undefined | Promise<number | undefined> => {
      const { kind, seq, input } = entry;
      const facts: JsonObject = isJsonObject(input) ? input : {};
      const found = (isWrong: boolean) => (isWrong ? seq : undefined);
      if (kind === 'execution') {
        const isWrong = differs(entry);
        return isWrong instanceof Promise ? isWrong.then(found) : found(isWrong);
      }
      if (kind === 'randomness_committed' && !secrets.has(String(facts['commitment'])))
        secrets.set(String(facts['commitment']), []);
      if (kind !== 'randomness_revealed' || !Array.isArray(facts['secrets'])) return undefined;
      const wrong = facts['secrets'].map(reveal).filter((one) => one !== undefined);
      return wrong.length > 0 ? Math.min(...wrong) : undefined;
    },
  };
}
