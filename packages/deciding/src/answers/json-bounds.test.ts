import fc from 'fast-check';
import { expect, it } from 'vitest';
import { excessIn } from './json-bounds.js';

const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
const MANY = 'it may have at most 50000 values';
const DEEP = 'it may be at most 32 levels deep';

it.each([
  ['a text of signs', `"${'[{,\\"'.repeat(50_000)}"`, undefined],
  ['32 levels', nested(32), undefined],
  ['34 levels', nested(34), DEEP],
  ['50,000 values', `[${'0,'.repeat(49_998)}0]`, undefined],
  ['50,001 values', `[${'0,'.repeat(49_999)}0]`, MANY],
  ['25,000 members', `{${'"a":[0],'.repeat(24_999)}"a":0}`, undefined],
  ['25,001 members', `{${'"a":[0],'.repeat(25_000)}"a":0}`, MANY],
  ['what is never closed', '['.repeat(34), DEEP],
  ['a text that is never closed', `"${'\\"'.repeat(50_000)}\\`, undefined],
])('%s', (_, json, excess) => {
  expect(excessIn(json)).toBe(excess);
});

it.each([
  ['a text that is no JSON', JSON.stringify({ a: `one, ${'['.repeat(60_000)}` }), undefined],
  ['lists in a text', JSON.stringify({ a: `[${'[],'.repeat(25_000)}` }), MANY],
  ['lists in two texts', JSON.stringify([1, 2].map(() => `[${'[],'.repeat(13_000)}0]`)), MANY],
  ['levels in a text', JSON.stringify([nested(34)]), DEEP],
  ['signs in a text of a text', JSON.stringify([JSON.stringify([`${'[,'.repeat(30_000)}`])]), undefined],
  ['a text with a wrong escape', `["[\\x"]`, undefined],
])('in texts that are read later: %s', (_, json, excess) => {
  expect(excessIn(json, true)).toBe(excess);
  expect(excessIn(json)).toBeUndefined();
});

it('is found in no text of a small value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 2), (value, space) => {
      expect(excessIn(JSON.stringify(value, null, space))).toBeUndefined();
    }),
  );
});
