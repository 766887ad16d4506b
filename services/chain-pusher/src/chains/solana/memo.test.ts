import { canonicalJson, type JsonObject } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { memoOf, readMemo } from './memo.js';

const deployment = `0x${'5a'.repeat(20)}`;
const digest = 'd1'.repeat(32);
const pushOf = (number: number, text: string | null = null) => ({
  number,
  entryHash: 'e1'.repeat(32),
  digest,
  text,
});
const memo = (more: JsonObject) => canonicalJson({ v: 1, deployment, digest, ...more });

describe('a memo', () => {
  it('is read as the range that it was made of', () => {
    const one = memoOf({ deployment, pushes: [pushOf(7)] });
    expect(readMemo(one)).toEqual({ deployment, from: 7, to: 7, digest });
    const several = memoOf({ deployment, pushes: [pushOf(7), pushOf(8), pushOf(9)] });
    expect(readMemo(several)).toMatchObject({ from: 7, to: 9 });
  });

  it.each<[string, JsonObject]>([
    ['no number', {}],
    ['a number below 1', { number: 0 }],
    ['a number that is not whole', { number: 1.5 }],
    ['a number that is text', { number: '1' }],
    ['an end before its beginning', { from: 2, to: 1 }],
    ['more numbers than fit into a transaction', { from: 1, to: 51 }],
    ['a number beyond the safe ones', { from: 2 ** 53, to: 2 ** 53 }],
    ['a digest that is none', { number: 1, digest: 'x' }],
    ['a deployment that is none', { number: 1, deployment: 'x' }],
    ['another version', { number: 1, v: 2 }],
    ['more bytes than a transaction has', { number: 1, more: 'x'.repeat(1300) }],
  ])('with %s is not one of a push', (_what, more) => {
    expect(readMemo(memo(more))).toBeUndefined();
  });

  it.each(['', 'null', '[]', '{', '{"v":1'])('of the text %j is not one of a push', (text) => {
    expect(readMemo(text)).toBeUndefined();
  });
});
