import { canonicalHash } from '@orrery/contracts';
import { commitmentOf, seedOf } from '@orrery/deciding';
import { expect, it } from 'vitest';
import {
  commitmentsOf,
  committedTo,
  currentOf,
  isSeedOf,
  NO_COMMITMENTS,
  openedBy,
  secretOf,
} from './secrets.js';

const KEY = new Uint8Array(32).fill(1);
const one = { commitment: 'a', nonce: '01' };
const other = { commitment: 'b', nonce: '02' };

it('has a secret of its own for each key, deployment and nonce', () => {
  const secrets = [
    secretOf(KEY, '0x1', '00'),
    secretOf(KEY, '0x2', '00'),
    secretOf(KEY, '0x1', '01'),
    secretOf(new Uint8Array(32), '0x1', '00'),
  ].map(commitmentOf);
  expect(new Set(secrets).size).toBe(4);
  expect(commitmentOf(secretOf(KEY, '0x1', '00'))).toBe(secrets[0]);
});

it('uses the last secret, unless that one is out of use', () => {
  expect(currentOf(NO_COMMITMENTS)).toBeUndefined();
  const both = committedTo(committedTo(NO_COMMITMENTS, one), other);
  expect(currentOf(both)).toBe(other);
  expect(currentOf({ ...both, hasCurrent: false })).toBeUndefined();
  expect(both.open).toEqual([one, other]);
});

it('opens a commitment with the key that it was made of, and for its deployment', () => {
  const made = { nonce: '00', commitment: commitmentOf(secretOf(KEY, '0x1', '00')) };
  const others = new Uint8Array(32);
  expect(openedBy([others, KEY], '0x1', made)).toEqual(secretOf(KEY, '0x1', '00'));
  expect(openedBy([others], '0x1', made)).toBeUndefined();
  expect(openedBy([KEY], '0x2', made)).toBeUndefined();
  expect(commitmentsOf({ randomness: null })).toBe(NO_COMMITMENTS);
});

it('tells a seed that is made of what was committed to from any other', () => {
  const seed = seedOf(KEY, 'run', canonicalHash({}));
  const randomness = { source: 'deployment', commitment: 'c', run: 'run', seed } as const;
  const judged = (known: object, entry: object = {}) =>
    isSeedOf(new Map([['c', { committed: 3, secret: KEY, ...known }]]), {
      ...{ seq: 4, input: {}, randomness, ...entry },
    });
  expect(judged({})).toBe(true);
  expect(judged({ revealed: 5 })).toBe(true);
  expect(judged({ revealed: 4 })).toBe(false);
  expect(judged({ committed: 4 })).toBe(false);
  expect(judged({}, { input: { a: 1 } })).toBe(false);
  expect(judged({}, { randomness: { ...randomness, commitment: 'd' } })).toBe(false);
  // What no key opens refutes nothing.
  expect(judged({ secret: undefined }, { input: { a: 1 } })).toBeUndefined();
});
