import type { JsonObject, JsonValue } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { compileTemplate } from './compile-template.js';
import { evaluateTemplate, failureDetail } from './evaluate-template.js';

function evaluate(template: JsonValue, input: JsonValue = {}, mutation = false) {
  const compiled = compileTemplate(template, { names: ['input'], mutation });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return evaluateTemplate(compiled.template, { input });
}

const ok = (value: JsonValue) => ({ ok: true, value });
const failed = (problem: object) => ({ ok: false, problem: expect.objectContaining(problem) });

describe('values', () => {
  const input = { n: 2, text: 'two', yes: true, none: null, list: [1, { a: 2 }] };
  it.each<[JsonValue, JsonValue]>([
    ['{{ input.n }}', 2],
    ['{{input.yes}}', true],
    ['{{ input.none }}', null],
    ['{{ input.list }}', [1, { a: 2 }]],
    [' {{ input.n }}', ' 2'],
    ['{{ input.n }}{{ input.text }}', '2two'],
    ['{{ input.yes }}, {{ input.none }}, {{ input.list }}', 'true, null, [1,{"a":2}]'],
    ['a {{ 0.5 }} b', 'a 0.5 b'],
    ['no placeholder', 'no placeholder'],
    [
      { 'k{{ input.n }}': 1, '{{ input.text }}': [{ x: '{{ input.n + 1 }}' }] },
      { k2: 1, two: [{ x: 3 }] },
    ],
    [
      { n: 1, b: false, z: null },
      { n: 1, b: false, z: null },
    ],
  ])('%j', (template, value) => {
    expect(evaluate(template, input)).toEqual(ok(value));
  });

  it('shares nothing with the scope', () => {
    const shared = { list: [1] };
    const result = evaluate({ a: '{{ input.list }}' }, shared);
    (shared.list as number[]).push(2);
    expect(result).toEqual(ok({ a: [1] }));
  });

  it('shares nothing between two evaluations', () => {
    const compiled = compileTemplate({ a: { b: [1] } }, { names: [] });
    if (!compiled.ok) throw new Error('does not compile');
    const first = evaluateTemplate(compiled.template, {});
    if (first.ok) ((first.value as JsonObject)['a'] as JsonObject)['b'] = 'changed';
    expect(evaluateTemplate(compiled.template, {})).toEqual(ok({ a: { b: [1] } }));
  });
});

describe('failures', () => {
  it('names the placeholder, its place and the reason', () => {
    expect(evaluate({ a: { b: 'x {{ input.missing }}' } })).toEqual({
      ok: false,
      problem: {
        placeholder: '{{ input.missing }}',
        pointer: '/a/b',
        reason: 'The input has no "missing".',
        told: 'The input has no "…".',
      },
    });
  });

  it.each<[JsonValue, string]>([
    [{ 'horse:{{ input.none }}': 1 }, 'A key must be text or a number'],
    [{ 'horse:{{ input.empty }}': 1 }, 'empty'],
    [{ 'horse:{{ input.list }}': 1 }, 'A key must be text or a number'],
    [{ a: 1, '{{ input.a }}': 2 }, 'appears twice'],
    [{ '{{ input.proto }}': 2 }, 'not allowed'],
    ['{{ 1.0 / input.zero }}', 'finite'],
  ])('%j', (template, reason) => {
    const input = { none: null, empty: '', list: [], a: 'a', proto: '__proto__', zero: 0 };
    expect(evaluate(template, input)).toEqual(failed({ reason: expect.stringContaining(reason) }));
  });

  it('bounds the result, however little was written', () => {
    const twice = `[input.list]${'.map(x, [x, x])'.repeat(20)}`;
    expect(evaluate(`{{ ${twice} }}`, { list: [1, 2, 3] })).toEqual(
      failed({ reason: 'The result is too large.' }),
    );
    const text = Array.from({ length: 100 }, () => '{{ input.text }}');
    expect(evaluate(text, { text: 'x'.repeat(10_000) })).toEqual(
      failed({ reason: 'The result is too large.' }),
    );
  });
});

describe('data cannot bring operators', () => {
  const sly = { $increment: 1000 };
  it.each<[string, JsonObject, JsonValue, JsonValue]>([
    ['attribute', { 'h:1': { a: '{{ input }}' } }, sly, { 'h:1': { a: { $set: sly } } }],
    ['whole change', { 'h:1': '{{ input }}' }, { a: sly, b: 1 }, { 'h:1': { a: { $set: sly }, b: 1 } }],
    [
      'all changes',
      { stateChanges: '{{ input }}' },
      { 'h:1': { a: sly } },
      { stateChanges: { 'h:1': { a: { $set: sly } } } },
    ],
    ['result', { result: { a: '{{ input }}' } }, sly, { result: { a: sly } }],
    ['operand', { 'h:1': { a: { $set: '{{ input }}' } } }, sly, { 'h:1': { a: { $set: sly } } }],
  ])('in the place of: %s', (_, template, input, value) => {
    expect(evaluate(template, input, true)).toEqual(ok(value));
  });

  it.each<[string, JsonObject, JsonValue]>([
    ['a deletion as a change', { 'h:1': '{{ input }}' }, { $delete: true }],
    ['a deletion among the changes', { stateChanges: '{{ input }}' }, { 'h:1': { $delete: true } }],
    ['a deletion as a key', { 'h:1': { '{{ input.key }}': true } }, { key: '$delete' }],
    ['an operator as a key', { 'h:1': { a: { '{{ input.key }}': 1 } } }, { key: '$increment' }],
    ['half an operator as a key', { 'h:1': { a: { '{{ input.key }}ment': 1 } } }, { key: '$incre' }],
  ])('%s', (_, template, input) => {
    expect(evaluate(template, input, true)).toEqual(
      failed({ reason: expect.stringContaining('Data may not bring') }),
    );
  });
});

describe('fail()', () => {
  const detailOf = (expression: string, input: JsonValue = {}) => {
    const result = evaluate({ a: `{{ ${expression} }}` }, input);
    return result.ok ? result.value : failureDetail(result.problem);
  };

  it('ends the evaluation with its text alone', () => {
    const expression = 'input.n > 1 ? input.n : fail("Only " + string(input.n) + " left.")';
    expect(detailOf(expression, { n: 2 })).toEqual({ a: 2 });
    expect(detailOf(expression, { n: 1 })).toBe('Only 1 left.');
    expect(evaluate({ a: `{{ ${expression} }}` }, { n: 1 })).toEqual(
      failed({ placeholder: `{{ ${expression} }}`, pointer: '/a', reason: 'Only 1 left.', isAuthored: true }),
    );
  });

  it.each([
    'false || fail("no")',
    'fail("no") || true',
    'fail("no") && false',
    '[1, 2].exists(x, x == 1 ? fail("no") : true)',
    '[1].map(x, fail("no"))',
  ])('is passed over by nothing: %s', (expression) => {
    expect(detailOf(expression)).toBe('no');
  });

  it('is not evaluated where another operand decides', () => {
    expect(detailOf('true || fail("no")')).toEqual({ a: true });
  });

  it('takes a text alone, and cuts a long one', () => {
    expect(detailOf('fail(7)')).toBe('{{ fail(7) }}: The function expects text, not a number.');
    expect(detailOf('fail(input.text)', { text: 'x'.repeat(1000) })).toHaveLength(501);
  });
});
