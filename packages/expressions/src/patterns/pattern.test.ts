import { cpuMs } from '@orrery/contracts/test-support';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, MAX_PATTERN_LENGTH } from './pattern.js';

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
