import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { MOST_NAME_UNITS, toNfc } from './fields.js';

const all = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
const marks = all.filter((character) => /\p{M}/u.test(character));

/** Few of them, so that marks of one class and doubled ones meet. */
const someMarks = [
  '\u0315',
  '\u0316',
  '\u0323',
  '\u0345',
  '\u0334',
  '\u0344',
  '\u0f73',
  '\u0f81',
  '\u0903',
  '\u{1d165}',
];
const text = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...someMarks) },
      { weight: 6, arbitrary: fc.constantFrom(...marks) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('a', '\u1f82', '\uac00', '\u1161', '\u{1611e}', '\u{16d67}', '\ud800'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    ),
    { maxLength: 400 },
  )
  .map((parts) => parts.join('').slice(0, MOST_NAME_UNITS));

describe('the normal form NFC of a name', () => {
  it('is what JavaScript makes of it', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(toNfc(one)).toBe(one.normalize('NFC'));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is what JavaScript makes, of all marks of Unicode in any order', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(marks, { minLength: 500, maxLength: 1_000 }), (some) => {
        const one = `a${some.join('')}`;
        expect(toNfc(one)).toBe(one.normalize('NFC'));
      }),
      { numRuns: 100 },
    );
  });

  it('of 255 characters is made of the longest text that is looked at', () => {
    const longest = all.reduce((most, one) => Math.max(most, [...one.normalize('NFD')].length), 0);
    expect(longest * 255 * 2).toBe(MOST_NAME_UNITS);
    const name = '\u1f82'.repeat(255);
    expect(toNfc(name.normalize('NFD'))).toBe(name);
  });

  it('is not made of longer texts', () => {
    const long = 'e\u0301'.repeat(MOST_NAME_UNITS);
    expect(toNfc(long)).toBe(long);
  });

  it('is left to JavaScript only once long runs of marks are in order, which it takes the square of', () => {
    const half = MOST_NAME_UNITS / 2 - 1;
    const given = vi.spyOn(String.prototype, 'normalize');
    toNfc(`a${'\u0315'.repeat(half)}${'\u0316'.repeat(half)}`);
    expect(given.mock.contexts.at(-1)).toBe(`a${'\u0316'.repeat(half)}${'\u0315'.repeat(half)}`);
    given.mockClear();
    toNfc('\u0345\u0344\u0f73\u093c'.repeat(100));
    const parts = [
      '\u093c'.repeat(100),
      '\u0f71'.repeat(100),
      '\u0f72'.repeat(100),
      '\u0308\u0301'.repeat(100),
    ];
    expect(given.mock.contexts.at(-1)).toBe([...parts, '\u0345'.repeat(100)].join(''));
    given.mockRestore();
  });
});
