import { commitmentOf, seedOf } from '@orrery/deciding';
import { describe, expect, it } from 'vitest';
import { secretOf } from '../../core/randomness/secrets.js';
import type { DeploymentState } from '../../store/state/deployment-state.js';
import { commitmentBefore, sourceFor, sourceForNothing } from './randomness.js';

const KEY = Buffer.alloc(32, 1);
const NONCE = '00'.repeat(16);
const SECRET = secretOf(KEY, '0xabc', NONCE);
const COMMITMENT = commitmentOf(SECRET);
const stateWith = (randomness: unknown) =>
  ({ row: { address: '0xabc', randomness } }) as unknown as DeploymentState;
const committed = stateWith({ open: [{ commitment: COMMITMENT, nonce: NONCE }], hasCurrent: true });
const run = { run: 'run', input: {} };
const INPUT_HASH = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

describe('the source of an execution', () => {
  it('gives a run the same seed each time that it is decided', () => {
    const seed = seedOf(SECRET, 'run', INPUT_HASH);
    for (const source of [sourceFor([KEY], committed, run), sourceFor([KEY], committed, run)]) {
      expect(source.take()).toEqual({ source: 'deployment', commitment: COMMITMENT, run: 'run', seed });
      expect(source.take()).toBe(source.take());
      expect(source.commits?.()).toBeUndefined();
    }
    const other = sourceFor([KEY], committed, { run: 'run', input: { a: 1 } });
    expect(other.take().seed).not.toBe(seed);
  });

  it('keeps what an earlier decision drew from, whatever was revealed since', () => {
    const earlier = sourceFor([KEY], committed, run).take();
    expect(sourceFor([KEY], stateWith(null), { ...run, earlier }).take()).toBe(earlier);
    expect(sourceFor([], stateWith(null), { ...run, replayed: 'f0' }).take().seed).toBe('f0');
  });

  it('commits to a new secret only where something is taken, and none is in use', () => {
    const state = stateWith({ open: [{ commitment: COMMITMENT, nonce: NONCE }], hasCurrent: false });
    const randomness = sourceFor([KEY], state, run);
    expect(commitmentBefore(randomness, state, 0)).toBeUndefined();
    const { commitment = '' } = randomness.take();
    expect(commitment).not.toBe(COMMITMENT);
    expect(commitmentBefore(randomness, state, 0)).toMatchObject({
      entry: { kind: 'randomness_committed', input: { commitment } },
      row: { randomness: { hasCurrent: true, open: [{ commitment: COMMITMENT }, { commitment }] } },
    });
  });

  it('is refused without keys, and any for a dry run', () => {
    expect(() => sourceFor([], committed, run)).toThrow(/RANDOMNESS_KEYS/);
    expect(sourceForNothing().take().seed).not.toBe(sourceForNothing().take().seed);
  });
});
