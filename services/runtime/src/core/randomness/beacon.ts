import { canonicalHash, type EntryRandomness, type JsonObject } from '@orrery/contracts';
import { type BeaconChain, beaconSecret, type RandomSource, seedOf } from '@orrery/deciding';

/** A round of a chain, by the chain's hash. */
export interface FixedRound {
  readonly chain: string;
  readonly number: number;
}

/**
 * The round of what is requested at `now`, in milliseconds since 1970: the first one that is signed a period later at least, so
 * that nobody knows it yet, also where the clock is late by that.
 */
export const roundFor = ({ genesis, period }: BeaconChain, now: number): number =>
  Math.max(1, Math.ceil((now / 1000 - genesis) / period) + 2);

/** A round, signed. */
export interface Beacon {
  /** The hash of the chain. */
  readonly chain: string;
  readonly round: number;
  /** In hex. */
  readonly signature: string;
}

/** A run draws from what nobody could know when it was requested: its seed is made of the round's signature. */
export const sourceOfBeacon = (beacon: Beacon, run: string, input: JsonObject): RandomSource => {
  let taken: EntryRandomness | undefined;
  const take = (): EntryRandomness => {
    const seed = seedOf(beaconSecret(beacon.signature), run, canonicalHash(input));
    return { source: 'drand', ...beacon, run, seed };
  };
  return { take: () => (taken ??= take()) };
};
