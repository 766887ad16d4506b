import { expect, it } from 'vitest';
import { parseKeys, readKeys } from './read-keys.js';

const ONE = '0f'.repeat(32);
const OTHER = 'A0'.repeat(32);

it('reads keys in their order, from commas and lines', () => {
  expect(parseKeys(`${ONE}, ${OTHER}\n`)).toEqual([Buffer.from(ONE, 'hex'), Buffer.from(OTHER, 'hex')]);
  expect(parseKeys('')).toEqual([]);
  expect(parseKeys(`${ONE} abc`)).toBeUndefined();
});

it('names the variable that is wrong, and never its value', () => {
  expect(readKeys({}, 'SOME_KEYS')).toEqual([]);
  expect(readKeys({ SOME_KEYS: ONE }, 'SOME_KEYS')).toHaveLength(1);
  expect(() => readKeys({ SOME_KEYS: 'secret' }, 'SOME_KEYS')).toThrow(/^(?!.*secret).*SOME_KEYS/s);
  expect(() => readKeys({ SOME_KEYS_FILE: '/nowhere/keys' }, 'SOME_KEYS')).toThrow(/SOME_KEYS_FILE/);
});
