import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileTemplate, evaluateTemplate } from '../../index.js';

const call = (expression: string, scope: Record<string, unknown>): unknown => {
  const compiled = compileTemplate(`{{ ${expression} }}`, { names: Object.keys(scope) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const outcome = evaluateTemplate(compiled.template, scope);
  if (!outcome.ok) throw new Error(outcome.problem.reason);
  return outcome.value;
};

const words = fc
  .array(fc.constantFrom('a', 'B', 'b', 'é', 'É', '😀', ' '), { maxLength: 60 })
  .map((units) => units.join(''));
const short = fc.array(fc.constantFrom('a', 'b', '😀'), { maxLength: 3 }).map((units) => units.join(''));

describe('methods of texts do what JavaScript does, by code points', () => {
  it.each<[string, (text: string, other: string) => unknown]>([
    ['text.split(other)', (text, other) => (other === '' ? [...text] : text.split(other))],
    [
      'text.replace(other, "-")',
      (text, other) => (other === '' ? ['', ...text, ''].join('-') : text.replaceAll(other, '-')),
    ],
    ['text.contains(other)', (text, other) => text.includes(other)],
    ['text.reverse()', (text) => [...text].reverse().join('')],
    ['text.lowerAscii()', (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())],
    ['text.upperAscii()', (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
    ['text.trim()', (text) => text.trim()],
  ])('%s', (expression, expected) => {
    fc.assert(
      fc.property(words, short, (text, other) => {
        expect(call(expression, { text, other })).toEqual(expected(text, other));
      }),
    );
  });

  it.each([
    ['text.split(",", 2)', ['a', 'b,c']],
    ['text.split("", 2)', ['a', ',b,c']],
    ['text.split(",", 0)', []],
    ['text.replace(",", "-", 1)', 'a-b,c'],
    ['text.replace(",", "-", 0)', 'a,b,c'],
    ['text.replace("", "-", 2)', '-a-,b,c'],
  ])('%s', (expression, expected) => {
    expect(call(expression, { text: 'a,b,c' })).toEqual(expected);
  });
});
