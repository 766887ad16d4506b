import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { cpuMs } from '../cpu-time.test-support.js';
import { parseJson } from './json.js';

/** Keys after which V8 reads others wrong. */
beforeAll(() => {
  for (const key of ['\\', '\\u', '\\u0', '\\u00', 'a\\', '\\\\']) {
    JSON.parse(JSON.stringify({ [key]: 1 }));
    JSON.parse(JSON.stringify({ a: 1, [key]: 1 }));
  }
});

/** A text of the object with all characters of its keys escaped. */
const escapedText = (entries: readonly (readonly [string, unknown])[]): string =>
  `{${entries.map(([key, value]) => `${escapeAll(key)}: ${JSON.stringify(value)}`).join(',')}}`;
const escapeAll = (text: string): string =>
  `"${text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

describe('parseJson', () => {
  it.each([
    ['{"\\u2028":1}', ['\u2028']],
    ['{"a":1,"\\u00e9t\\u00e9" :2}', ['a', 'été']],
    ['{"\\"":1,"\\n":2,"\\\\":3}', ['"', '\n', '\\']],
    ['{"x":"\\":","\\u0061":"\\\\"}', ['x', 'a']],
  ])('reads the keys of %s as they are written, whatever was parsed before', (text, keys) => {
    expect(Object.keys(parseJson(text) as object)).toEqual(keys);
  });

  it('reads each text as JSON says', () => {
    const unit = fc.constantFrom('\n', '\u2028', '"', '\\', 'a', 'u', '0', ':', '\uf8ff', '\u{1f40e}', ' ');
    const text = fc.string({ unit, maxLength: 6 });
    const json = fc.jsonValue({ stringUnit: unit, maxDepth: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, json)), fc.integer({ min: 0, max: 2 }), (entries, indent) => {
        const expected = Object.fromEntries(entries);
        const read = parseJson(JSON.stringify(expected, null, indent));
        // As texts: JSON.parse could not be trusted to tell what is expected.
        expect(JSON.stringify(read)).toBe(JSON.stringify(expected));
      }),
    );
  });

  it('reads keys of which each character is escaped: of a repeated one the last value, and no prototype', () => {
    const entries = [
      ['__proto__', { x: 1 }],
      ['été', 1],
      ['10', [{ '\\': 2 }]],
      ['été', 3],
    ] as const;
    const read = parseJson(escapedText(entries)) as object;
    expect(Object.entries(read)).toEqual([
      ['10', [{ '\\': 2 }]],
      ['__proto__', { x: 1 }],
      ['été', 3],
    ]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  it('takes keys that look like its own marks for what they are', () => {
    expect(parseJson('{"\uf8ff0":1,"\uf8ff\uf8ff0":2,"\\n":3}')).toEqual({
      '\uf8ff0': 1,
      '\uf8ff\uf8ff0': 2,
      '\n': 3,
    });
  });

  it.each(['', '{', '{"\\n":}', '{"\\x":1}', '"\\', '{"a\\":1}', '{"\\n":1,}', '{"\n\\n":1}', '["\\n":1]'])(
    'refuses what is no JSON as JSON.parse does: %j',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );

  it('reads deep and long texts in time that grows with their length', () => {
    const deep = `${'{"\\n":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const marks = `{"\\n":"${'\uf8ff'.repeat(1_000_000)}"}`;
    const slashes = `{"\\n":"${'\\\\'.repeat(1_000_000)}"}`;
    for (const text of [deep, marks, slashes]) expect(cpuMs(() => parseJson(text))).toBeLessThan(2000);
  });
});
