import { beforeAll, expect, it } from 'vitest';
import { parseJson } from './parse-json.js';

/** Keys after which JSON.parse reads others wrong. */
beforeAll(() => {
  for (const text of ['{"\\\\":1}', '{"a":1,"\\\\":1}']) JSON.parse(text);
});

it.each([
  ['{"\\u2028":1}', ['\u2028']],
  ['{"a":1,"\\u00e9t\\u00e9" :2}', ['a', 'été']],
  ['{"\\"":1,"\\n":2,"\\\\":3}', ['"', '\n', '\\']],
  ['{"x":"\\":","\\u0061":"\\\\"}', ['x', 'a']],
  ['{"\uf8ff0":1,"\uf8ff\uf8ff0":2,"\\n":3}', ['\uf8ff0', '\uf8ff\uf8ff0', '\n']],
  ['{"\\u005f_proto__":1,"__proto__":{"\\t":1}}', ['__proto__']],
])('reads the keys of %s as they are written, whatever was parsed before', (text, keys) => {
  expect(Object.keys(parseJson(text) as object)).toEqual(keys);
});

it('reads what service and tools write, at any depth', () => {
  const value = { 'a"b': [{ 'c\\d': { '\t': 'e"f\\' } }, '"\\":', 1, null], g: '\uf8ff0' };
  for (const indent of [0, 2])
    expect(JSON.stringify(parseJson(JSON.stringify(value, null, indent)))).toBe(JSON.stringify(value));
});

it.each(['', '{', '{"\\n":}', '{"\\x":1}', '{"a\\":1}', '{"\\n":1,}', '["\\n":1]'])(
  'refuses what is no JSON as JSON.parse does: %j',
  (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  },
);
