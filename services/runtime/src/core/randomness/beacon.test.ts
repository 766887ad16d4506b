import { chainOf, createRoundCheck, QUICKNET, QUICKNET_HASH, timeOfRound, uuidV7 } from '@orrery/deciding';
import { expect, it } from 'vitest';
import { isTooLateToDraw, laterRound, roundFor, sourceOfBeacon } from './beacon.js';

const chain = chainOf(QUICKNET, QUICKNET_HASH);
if (chain === undefined) throw new Error('the constants do not belong together');

/** Round 1000 of quicknet, as the League of Entropy has published it. */
const SIGNATURE =
  'b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39';

it('the round of a request is signed between one and two periods later', () => {
  for (const now of [0, 1, 1499, 2999, 3000, 3001]) {
    const at = timeOfRound(chain, 500) + now;
    const wait = timeOfRound(chain, roundFor(chain, at)) - at;
    expect(wait).toBeGreaterThanOrEqual(3000);
    expect(wait).toBeLessThanOrEqual(6000);
  }
});

it('the round of a later draw is one that verification takes for the run, as long as there is one', async () => {
  const signedAt = timeOfRound(chain, 1000);
  const now = signedAt - 5000;
  const isTaken = (run: string) => {
    const beacon = { chain: QUICKNET_HASH, round: 1000, signature: SIGNATURE };
    const randomness = sourceOfBeacon(beacon, run, {}).take();
    return createRoundCheck(chain)({ randomness, input: {} });
  };
  const last = uuidV7(signedAt - 1_800_000);
  expect(laterRound(chain, last, now)).toEqual({ chain: QUICKNET_HASH, number: 1000 });
  expect(await isTaken(last)).toBe(true);
  const late = uuidV7(signedAt - 1_800_001);
  expect(laterRound(chain, late, now)).toBeUndefined();
  expect(await isTaken(late)).toBe(false);
  expect([signedAt - 1, signedAt].map((at) => isTooLateToDraw(last, at))).toEqual([false, true]);
});

it('an entry that draws from a round shows it, with a seed that is made of it', async () => {
  const run = '018a231f-2bc0-7000-8000-000000000000';
  const beacon = { chain: QUICKNET_HASH, round: 1000, signature: SIGNATURE };
  const source = sourceOfBeacon(beacon, run, { a: 1 });
  const randomness = source.take();
  expect(randomness).toEqual({ source: 'drand', ...beacon, run, seed: expect.any(String) });
  expect(source.take()).toBe(randomness);
  expect(await createRoundCheck(chain)({ randomness, input: { a: 1 } })).toBe(true);
});
