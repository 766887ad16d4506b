import { cpuMs } from '@orrery/contracts/test-support';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import {
  compileNewPattern,
  compilePattern,
  MAX_PATTERN_LENGTH,
  PATTERN_COST,
  patternCost,
} from './pattern.js';

function tests(source: string, text: string): boolean | string {
  const compiled = compilePattern(source);
  return compiled.ok ? compiled.pattern.test(text) : compiled.reason;
}

describe('what matches', () => {
  it.each([
    ['^[A-Z]{3}$', 'ABC', true],
    ['^[A-Z]{3}$', 'ABCD', false],
    ['b+', 'aabb', true],
    ['^\\d{4}-\\d\\d$', '2026-11', true],
    ['^\\u0041\\/', 'A/', true],
    ['^(?<year>\\d+)$', '2026', true],
    ['^\\p{L}+$', 'Zoë', true],
    ['^[a-z]{1,255}$', 'a'.repeat(255), true],
    ['^.{0,500}$', 'a'.repeat(500), true],
    ['^.{0,500}$', 'a'.repeat(501), false],
    ['', 'anything', true],
  ])('%s on %s', (source, text, expected) => {
    expect(tests(source, text)).toBe(expected);
  });
});

it.each([
  '(',
  '[a',
  'a**',
  '(?=a)b',
  '(a)\\1',
  '\\p{Nope}',
  '((a{1,100}){1,100}){1,100}',
  'a{1001}',
  '[a-z]{0,900}',
])('refuses %s with a reason', (source) => {
  expect(compilePattern(source)).toEqual({ ok: false, reason: expect.stringMatching(/.+/) });
});

it('refuses what is too long', () => {
  expect(compilePattern('a'.repeat(MAX_PATTERN_LENGTH + 1)).ok).toBe(false);
});

it.each([
  '(a*)*b',
  '(x+x+)+y',
  '(a|a)*c',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(?:a?){500}a{500}',
  '\\p{L}{900}',
  '(.*)*=',
])('%s is not slow on any text', (source) => {
  const texts = ['a'.repeat(65_536), 'x'.repeat(600), 'ab'.repeat(380)];
  expect(cpuMs(() => texts.map((text) => tests(source, text)))).toBeLessThan(500);
});

/** Different characters, none of them a letter or a digit. */
const signs = Array.from({ length: 300 }, (_, index) => String.fromCodePoint(0x2200 + index));

it.each([
  ['letters in a class', `(?i)[${'\\pL'.repeat(330)}]`],
  ['letters one after the other', `(?i)${'\\pL'.repeat(332)}`],
  ['letters or letters', `${'\\pL|'.repeat(249)}a`],
  ['ranges with their other cases', `(?i)[${'B-\u{1e942}'.repeat(240)}]`],
  ['a long text many times', `(?:${'a'.repeat(980)}){1000}`],
  ['repetitions inside repetitions', '(((a{0,10}){0,10}){0,10})'.repeat(38)],
])('does not compile %s', (_what, source) => {
  expect(patternCost(source)).toBeGreaterThan(PATTERN_COST.ofOne);
  expect(compileNewPattern(source)).toEqual({ ok: false, reason: expect.stringContaining('too complex') });
});

it.each([
  "^\\p{L}[\\p{L}\\p{N} '-]{0,63}$",
  '(?i)^[a-zà-ÿ]+$',
  '^[\\p{L}\\p{N}\\p{P}\\p{S} ]{0,500}$',
  '^[a-z0-9]+(-[a-z0-9]+)*$',
  '^[\\u4e00-\\u9fff]{1,100}$',
  '(?i)^[^\\x{0}-\\x{1f}]{1,255}$',
  '\\p{L}{580}',
  '^\\Q(a[\\E[]()]{2}',
])('takes %s', (source) => {
  expect(compileNewPattern(source)).toMatchObject({ ok: true });
});

it('compiles what was saved before its cost was bounded', () => {
  expect(tests(`(?i)^[${'\\pL'.repeat(330)}]$`, 'é')).toBe(true);
});

it('compiles quickly what may follow, or not, one after the other', () => {
  const source = `^${signs.map((sign) => `${sign}?`).join('')}\\pL?$`;
  expect(cpuMs(() => expect(tests(source, '∁∂é')).toBe(true))).toBeLessThan(200);
});

it('has the size of the engine’s program, refuses what it refuses and matches what it matches', () => {
  const piece = fc.constantFrom(
    ...[
      'a',
      'é',
      '.',
      '*',
      '+',
      '?',
      '??',
      '(',
      ')',
      '(?:',
      '(?i)',
      '(?P<n>',
      '[',
      '[^',
      ']',
      '[a-z]',
      '[)]',
    ],
    ...[
      '{2}',
      '{0,9}',
      '{2,}',
      '{',
      '}',
      '^',
      '$',
      '|',
      '\\',
      '\\d',
      '\\b',
      '\\Q',
      '\\E',
      '\\pL',
      '\\A',
      '\\z',
    ],
    ...['\\(', '\\)', '-', 'ſ', '()', '[]a]', '(?m)', '[[:alpha:]]', '\\x41'],
  );
  const source = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(source, (pattern) => {
      const engine = plainly(pattern);
      const found = compilePattern(pattern);
      expect(found.ok).toBe(engine !== undefined && engine.programSize() <= 1_180);
      if (engine === undefined || !found.ok) return;
      const texts = ['', 'a', 'aab', 'A', 'é\nz', 'ſa', 'a)(', '{2}'];
      expect(found.pattern.size).toBe(Math.max(1, engine.programSize()));
      expect(texts.map((text) => tests(pattern, text))).toEqual(texts.map((text) => engine.test(text)));
    }),
    { numRuns: 2_000 },
  );
});

function plainly(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    return undefined;
  }
}

it('never throws, and answers true or false', () => {
  const piece = fc.constantFrom(
    'a',
    '.',
    '*',
    '+',
    '?',
    '(',
    ')',
    '[',
    ']',
    '{2}',
    '{0,9}',
    '^',
    '$',
    '|',
    '\\',
    'd',
    '\\u',
    '(?i)',
  );
  const source = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(source, fc.string(), (pattern, text) => {
      expect(tests(pattern, text)).not.toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
