import { expect, it } from 'vitest';
import { AnsweredKeys } from './answered-keys.js';

const HOUR_MS = 3_600_000;
const KIB = 1024;
const answer = (bytes = KIB, at = 0) => ({ requestHash: 'hash', reply: { reply: 'done' }, at, bytes });
const names = (count: number) => Array.from({ length: count }, (_, index) => `key ${index}`);

it('keeps the latest answers, a bounded number and so many bytes of them', () => {
  const small = new AnsweredKeys();
  const large = new AnsweredKeys();
  for (const [seq, key] of names(1000).entries()) {
    small.add(key, answer(), seq);
    large.add(key, answer(20 * KIB), seq);
  }
  expect(small.bytes()).toBe(256 * KIB);
  expect(large.bytes()).toBe(240 * KIB);
  expect(names(1000).filter((key) => large.get(key, 0) !== undefined)).toEqual(names(1000).slice(988));
});

it('keeps all of the last two batches: an item may have been prepared before they were committed', () => {
  const keys = new AnsweredKeys();
  const ofBatch = (seq: number) => {
    for (const key of names(300)) keys.add(`${seq} ${key}`, answer(20 * KIB), seq);
  };
  for (const seq of [0, 300]) ofBatch(seq);
  const before = keys.uncommitted;
  ofBatch(600);
  expect(keys.hasAllSince(before)).toBe(true);
  expect(names(300).every((key) => keys.get(`300 ${key}`, 0) && keys.get(`600 ${key}`, 0))).toBe(true);
  expect(keys.get('0 key 0', 0)).toBeUndefined();
  ofBatch(900);
  expect([keys.hasAllSince(before), keys.hasAllSince(keys.uncommitted)]).toEqual([false, true]);
});

it('a key is free again after 24 hours, and its answer is forgotten with the next one', () => {
  const keys = new AnsweredKeys();
  keys.add('k', answer(), 0);
  const { uncommitted } = keys;
  expect(keys.get('k', 24 * HOUR_MS - 1)).toMatchObject({ reply: { reply: 'done' } });
  expect(keys.get('k', 24 * HOUR_MS)).toBeUndefined();
  keys.add('other', answer(KIB, 25 * HOUR_MS), 1);
  expect([keys.bytes(), keys.hasAllSince(uncommitted)]).toEqual([KIB, true]);
  keys.add('other', answer(2 * KIB, 50 * HOUR_MS), 2);
  expect(keys.bytes()).toBe(2 * KIB);
});
