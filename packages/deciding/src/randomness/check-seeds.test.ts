import { canonicalHash, type HashedEntry } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { createSeedCheck } from './check-seeds.js';
import { commitmentOf, seedOf } from './seed.js';

const SECRET = new Uint8Array(32).fill(1);
const commitment = commitmentOf(SECRET);
const secret = Buffer.from(SECRET).toString('hex');

/** A journal of these entries, each `[kind, members]`. */
const check = async (...entries: [string, object][]) => {
  const { check: next, counts } = createSeedCheck();
  const found: (number | undefined)[] = [];
  for (const [at, [kind, members]] of entries.entries())
    found.push(await next({ kind, seq: at + 1, input: {}, ...members } as unknown as HashedEntry));
  return { found: found.filter((seq) => seq !== undefined), counts };
};
const committed: [string, object] = ['randomness_committed', { input: { commitment } }];
const revealed: [string, object] = ['randomness_revealed', { input: { secrets: [{ commitment, secret }] } }];
const drawn = (input: object, more: object = {}): [string, object] => {
  const seed = seedOf(SECRET, 'run', canonicalHash(input as never));
  return [
    'execution',
    { input, randomness: { source: 'deployment', commitment, run: 'run', seed, ...more } },
  ];
};
const WRONG = { seed: '0'.repeat(64) };

describe('a seed of a secret of the deployment', () => {
  it('is held to it once the secret is revealed', async () => {
    const { found, counts } = await check(committed, drawn({ a: 1 }), drawn({ a: 2 }), revealed);
    expect({ found, counts }).toEqual({ found: [], counts: { checked: 2, notChecked: {} } });
    expect((await check(committed, drawn({}), drawn({}, WRONG), drawn({}, WRONG), revealed)).found).toEqual([
      3,
    ]);
  });

  it('is counted, and refutes nothing, as long as it is not', async () => {
    const { found, counts } = await check(committed, drawn({}), drawn({}, WRONG));
    expect({ found, counts }).toEqual({ found: [], counts: { checked: 0, notChecked: { unrevealed: 2 } } });
  });

  it('is of a secret that was committed to before, and not revealed', async () => {
    expect((await check(drawn({}), committed)).found).toEqual([1]);
    expect((await check(committed, revealed, drawn({}))).found).toEqual([3]);
    expect((await check(committed, drawn({}, { commitment: 'f'.repeat(64) }))).found).toEqual([2]);
  });

  it('is revealed by nothing but its secret', async () => {
    const told = (secrets: unknown): [string, object] => ['randomness_revealed', { input: { secrets } }];
    for (const secrets of [[{ commitment, secret: '00' }], [{ commitment }], [null], 'none', undefined]) {
      const { found, counts } = await check(committed, drawn({}), told(secrets));
      expect({ found, counts }).toEqual({ found: [], counts: { checked: 0, notChecked: { unrevealed: 1 } } });
    }
  });
});

it('a seed of a round is held to the beacon that is known; one of another beacon, or of an entry that is repeated, is counted', async () => {
  const of = (randomness: object): [string, object] => ['execution', { randomness }];
  const chain = '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971';
  expect(await check(of({ source: 'drand', chain, round: 1, ...WRONG }))).toEqual({
    found: [1],
    counts: { checked: 1, notChecked: {} },
  });
  const others = await check(
    of({ source: 'drand', chain: 'f'.repeat(64), ...WRONG }),
    ['execution', { randomness: { source: 'replayed', ...WRONG }, replayOf: { seq: 1 } }],
    ['execution', {}],
  );
  expect((await check(of({ source: 'replayed', ...WRONG }))).found).toEqual([1]);
  expect(others).toEqual({ found: [], counts: { checked: 0, notChecked: { other_beacon: 1, replayed: 1 } } });
});
