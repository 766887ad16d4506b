import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  beaconSecret,
  bytesOf,
  commitmentOf,
  committedTo,
  currentOf,
  NO_COMMITMENTS,
  secretOf,
  seedOf,
} from './seed.js';

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

it('makes a seed as any other program makes it', () => {
  const inputHash = createHash('sha256').update('{}').digest('hex');
  expect(seedOf(KEY, 'run', inputHash)).toBe(
    createHmac('sha256', KEY).update(`run${inputHash}`).digest('hex'),
  );
  expect(commitmentOf(KEY)).toBe(createHash('sha256').update(KEY).digest('hex'));
  expect(beaconSecret('ff')).toEqual(
    createHash('sha256')
      .update(Buffer.from([255]))
      .digest(),
  );
  expect(bytesOf('ff00')).toEqual(new Uint8Array([255, 0]));
});

it('uses the last secret, unless that one is out of use', () => {
  expect(currentOf(NO_COMMITMENTS)).toBeUndefined();
  const both = committedTo(committedTo(NO_COMMITMENTS, one), other);
  expect(currentOf(both)).toBe(other);
  expect(currentOf({ ...both, hasCurrent: false })).toBeUndefined();
  expect(both.open).toEqual([one, other]);
});
