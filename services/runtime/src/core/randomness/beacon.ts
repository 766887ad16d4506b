import { canonicalHash, type EntryRandomness, type JsonObject } from '@orrery/contracts';
import { type BeaconChain, beaconSecret, type RandomSource, seedOf, timeOfRound } from '@orrery/deciding';

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

/** Verification takes a round that is signed within this many milliseconds of the time in the run's id. */
const ROUND_WITHIN_MS = 30 * 60_000;

/** The time in the id of a run, a UUID of version 7, in milliseconds since 1970. */
const requestedAt = (run: string): number => Number.parseInt(run.replaceAll('-', '').slice(0, 12), 16);

/** Whether no round that is still to be signed would be taken for the run. */
export const isTooLateToDraw = (run: string, now: number): boolean =>
  now - requestedAt(run) >= ROUND_WITHIN_MS;

/** The round of a run that draws at `now`, some time after its request; undefined: verification would not take it. */
export function laterRound(chain: BeaconChain, run: string, now: number): FixedRound | undefined {
  const number = roundFor(chain, now);
  const isTaken = timeOfRound(chain, number) - requestedAt(run) <= ROUND_WITHIN_MS;
  return isTaken ? { chain: chain.hash, number } : undefined;
}

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
