import { canonicalHash } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import {
  chainOf,
  createRoundCheck,
  hashOfChain,
  isSignatureOf,
  QUICKNET,
  QUICKNET_HASH,
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
    expect(timeOfRound(chain, 1)).toBe(1_692_803_367_000);
  });

  it('has signed a round, or has not', async () => {
    expect(await isSignatureOf(chain, 1000, SIGNATURE)).toBe(true);
    expect(Buffer.from(beaconSecret(SIGNATURE)).toString('hex')).toBe(RANDOMNESS);
    expect(await isSignatureOf(chain, 1001, SIGNATURE)).toBe(false);
    expect(await isSignatureOf(chain, 1000, `a${SIGNATURE.slice(1)}`)).toBe(false);
    expect(await isSignatureOf(chain, 1000, 'f0')).toBe(false);
  });
});

describe('an entry', () => {
  /** Requested four seconds before round 1000 was signed. */
  const run = '018a231f-2bc0-7000-8000-000000000000';
  const drawn = (by: { run?: string; round?: number; signature?: string } = {}) => {
    const beacon = { round: 1000, signature: SIGNATURE, run, ...by };
    const seed = seedOf(beaconSecret(beacon.signature), beacon.run, canonicalHash({ a: 1 }));
    return { source: 'drand', chain: QUICKNET_HASH, ...beacon, seed } as const;
  };
  const isSeedOfRound = createRoundCheck(chain);

  it('has a seed of its round, its run and its input', async () => {
    expect(await isSeedOfRound({ randomness: drawn(), input: { a: 1 } })).toBe(true);
    expect(await isSeedOfRound({ randomness: drawn(), input: { a: 2 } })).toBe(false);
    const other = drawn({ signature: `a${SIGNATURE.slice(1)}` });
    expect(await isSeedOfRound({ randomness: other, input: { a: 1 } })).toBe(false);
    expect(await isSeedOfRound({ randomness: drawn({ round: 1001 }), input: { a: 1 } })).toBe(false);
    expect(await isSeedOfRound({ randomness: drawn(), input: { a: 1 } })).toBe(true);
  });

  it('names no round that was known when it was requested', async () => {
    const late = drawn({ run: '019aa000-0000-7000-8000-000000000000' });
    expect(await isSeedOfRound({ randomness: late, input: { a: 1 } })).toBe(false);
  });

  it('names no round that was signed more than half an hour after it was requested', async () => {
    const isHeldAfter = (ms: number) => {
      const time = (timeOfRound(chain, 1000) - ms).toString(16).padStart(12, '0');
      const requested = `${time.slice(0, 8)}-${time.slice(8)}${run.slice(13)}`;
      return isSeedOfRound({ randomness: drawn({ run: requested }), input: { a: 1 } });
    };
    expect(await Promise.all([0, 1, 1_800_000, 1_800_001].map(isHeldAfter))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
