import { describe, expect, it } from 'vitest';
import {
  chainOf,
  hashOfChain,
  isSeedOfRound,
  isSignatureOf,
  QUICKNET,
  QUICKNET_HASH,
  roundFor,
  sourceOfBeacon,
  timeOfRound,
} from './beacon.js';
import { beaconSecret, seedOf } from './seed.js';

const chain = chainOf(QUICKNET, QUICKNET_HASH);
if (chain === undefined) throw new Error('the constants do not belong together');

/** Round 1000 of quicknet, as the League of Entropy has published it. */
const SIGNATURE =
  'b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39';
const RANDOMNESS = 'fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd';

describe('a chain', () => {
  it('is the one that its hash names, or none', () => {
    expect(hashOfChain(QUICKNET)).toBe(QUICKNET_HASH);
    expect(chain).toMatchObject({ hash: QUICKNET_HASH, period: 3, genesis: 1_692_803_367 });
    expect(chainOf({ ...QUICKNET, genesis_time: 1 }, QUICKNET_HASH)).toBeUndefined();
    expect(chainOf({ ...QUICKNET, schemeID: 'pedersen-bls-chained' }, QUICKNET_HASH)).toBeUndefined();
    expect(chainOf('no object', QUICKNET_HASH)).toBeUndefined();
  });

  it('has signed a round, or has not', () => {
    expect(isSignatureOf(chain, 1000, SIGNATURE)).toBe(true);
    expect(Buffer.from(beaconSecret(SIGNATURE)).toString('hex')).toBe(RANDOMNESS);
    expect(isSignatureOf(chain, 1001, SIGNATURE)).toBe(false);
    expect(isSignatureOf(chain, 1000, `a${SIGNATURE.slice(1)}`)).toBe(false);
    expect(isSignatureOf(chain, 1000, 'f0')).toBe(false);
  });
});

describe('the round of a request', () => {
  it('is signed between one and two periods later', () => {
    for (const now of [0, 1, 1499, 2999, 3000, 3001]) {
      const at = timeOfRound(chain, 500) + now;
      const wait = timeOfRound(chain, roundFor(chain, at)) - at;
      expect(wait).toBeGreaterThanOrEqual(3000);
      expect(wait).toBeLessThanOrEqual(6000);
    }
    expect(timeOfRound(chain, 1)).toBe(1_692_803_367_000);
  });
});

describe('an entry', () => {
  const run = '018a0000-0000-7000-8000-000000000000';
  const beacon = { chain: QUICKNET_HASH, round: 1000, signature: SIGNATURE };
  const randomness = sourceOfBeacon(beacon, run, { a: 1 }).take();

  it('has a seed of its round, its run and its input', () => {
    expect(randomness).toEqual({ source: 'drand', ...beacon, run, seed: expect.any(String) });
    expect(isSeedOfRound(chain, { randomness, input: { a: 1 } })).toBe(true);
    expect(isSeedOfRound(chain, { randomness, input: { a: 2 } })).toBe(false);
    const signature = `a${SIGNATURE.slice(1)}`;
    const inputHash = '015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862';
    const seed = seedOf(beaconSecret(signature), run, inputHash);
    expect(isSeedOfRound(chain, { randomness: { ...randomness, signature, seed }, input: { a: 1 } })).toBe(
      false,
    );
  });

  it('names no round that was known when it was requested', () => {
    const late = sourceOfBeacon(beacon, '019aa000-0000-7000-8000-000000000000', { a: 1 }).take();
    expect(isSeedOfRound(chain, { randomness: late, input: { a: 1 } })).toBe(false);
  });
});
