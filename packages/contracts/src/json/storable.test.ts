import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutText, findUnsafeJson, storableJson, storableText } from './json.js';

it.each([
  ['abcd', 4, 'abcd'],
  ['abcde', 4, 'abcd…'],
  ['abc\u{1f40e}', 4, 'abc…'],
  ['ab\u{1f40e}c', 4, 'ab\u{1f40e}…'],
])('cuts %j after %i units, and no character in half', (text, most, expected) => {
  expect(cutText(text, most)).toBe(expected);
});

it.each([
  ['a\u0000b', 'a\ufffdb'],
  ['a\ud83d', 'a\ufffd'],
  ['\udc0e\u{1f40e}', '\ufffd\u{1f40e}'],
])('replaces in %j what PostgreSQL refuses', (text, expected) => {
  expect(storableText(text)).toBe(expected);
});

const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);

it.each([
  [{ 'a\u0000': 'b\ud800' }, { 'a\ufffd': 'b\ufffd' }],
  [JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "b": 1e400}'), { b: null }],
  [{ a: undefined, b: [undefined, () => 1] }, { b: [null, null] }],
])('makes %j storable', (value, expected) => {
  expect(storableJson(value)).toEqual(expected);
});

it('makes storable what is nested too deep', () => {
  expect(findUnsafeJson(nested(33))).toMatchObject({ code: 'too_deep' });
  expect(findUnsafeJson(storableJson(nested(33)))).toBeUndefined();
  expect(storableJson(nested(32))).toEqual(nested(32));
  expect(findUnsafeJson(storableJson(nested(5000)))).toBeUndefined();
});

it('changes nothing of what the guard accepts, and leaves nothing that it does not', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\u0000', '\ud83d', '\udc0e', '\u{1f40e}', '__proto__'),
  });
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.double(),
      fc.constantFrom(null, true),
      fc.array(tie('tree')),
      fc.dictionary(text, tie('tree')),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const storable = storableJson(value);
      expect(findUnsafeJson(storable)).toBeUndefined();
      if (findUnsafeJson(value) === undefined) expect(storable).toEqual(value);
    }),
  );
});
