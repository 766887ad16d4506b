import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { beaconSecret, bytesOf, commitmentOf, seedOf } from './seed.js';

const SECRET = new Uint8Array(32).fill(1);

it('makes a seed as any other program makes it', () => {
  const inputHash = createHash('sha256').update('{}').digest('hex');
  const made = createHmac('sha256', SECRET).update(`run${inputHash}`).digest('hex');
  expect(seedOf(SECRET, 'run', inputHash)).toBe(made);
  expect(commitmentOf(SECRET)).toBe(createHash('sha256').update(SECRET).digest('hex'));
  const ofRound = createHash('sha256')
    .update(Buffer.from([255]))
    .digest('hex');
  expect(Buffer.from(beaconSecret('ff')).toString('hex')).toBe(ofRound);
});

it('reads hex, and nothing from what is no hex', () => {
  expect(bytesOf('ff00')).toEqual(new Uint8Array([255, 0]));
  for (const text of ['', 'f', 'FF', 'no hex', '0x00']) expect(bytesOf(text)).toEqual(new Uint8Array());
});
