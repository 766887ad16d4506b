import { expect, it } from 'vitest';
import { base58 } from './public-executions.js';

// draft-msporny-base58-03, "Test Vectors"
it.each([
  [Buffer.from('Hello World!'), '2NEpo7TZRRrLZSi2U'],
  [
    Buffer.from('The quick brown fox jumps over the lazy dog.'),
    'USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z',
  ],
  [Buffer.from('0000287fb4cd', 'hex'), '11233QC4'],
  [new Uint8Array(32), '1'.repeat(32)],
  [new Uint8Array(), ''],
])('writes %s as %s', (bytes, text) => {
  expect(base58(bytes)).toBe(text);
});
