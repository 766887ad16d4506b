import { describe, expect, it } from 'vitest';
import { TemplateRun } from '../templates/evaluate-template.js';
import { compileExpression, expressionCompiler } from './compile-expression.js';
import { ExpressionFault } from './nodes/compile-context.js';
import { EvaluationFailure } from './values/cel-value.js';

const NAMES = ['input', 'entities', 'timestamp', 'unix'];

function evaluate(source: string, scope: Record<string, unknown> = {}): unknown {
  const compiled = compileExpression(source, expressionCompiler(NAMES, 1_000));
  if (compiled instanceof ExpressionFault) return { fault: compiled.code };
  try {
    const run = new TemplateRun(scope);
    return run.toJson(compiled({ ...run.frame, work: 10_000 }), 0);
  } catch (error) {
    if (error instanceof EvaluationFailure) return { failed: error.reason };
    throw error;
  }
}

const failed = (reason: string) => ({ failed: expect.stringContaining(reason) });

describe('numbers', () => {
  const input = { n: 7, half: 0.5, zero: 0, big: 1e300, text: '7' };
  it.each([
    ['input.n + 1', 8],
    ['1 + input.n', 8],
    ['0.5 * input.n', 3.5],
    ['input.n / 2', 3.5],
    ['7 / 2', 3],
    ['input.n % 4', 3],
    ['size([1, 2, 3]) * 0.5', 1.5],
    ['-input.n', -7],
    ['input.n == 7', true],
    ['input.n in [6, 7]', true],
    ['[10, 20, 30][input.zero]', 10],
    ['math.greatest(0, input.n - 10)', 0],
    ['math.least(input.n, 5)', 5],
    ['math.round(input.half)', 1],
    ['int(input.n) / 2', 3],
    ['"abcdefgh".substring(input.zero, input.n)', 'abcdefg'],
    ['input.n > 6 && input.half < 1', true],
    ['0.0 * -1.0', 0],
    ['10000000000000000', 1e16],
    ['9007199254740992.0', 2 ** 53],
    ['input.big', 1e300],
    ['input.big * 2', 2e300],
  ])('%s', (source, value) => {
    expect(evaluate(source, { input })).toEqual(value);
  });

  it.each([
    ['input.n / input.zero', 'finite'],
    ['1 / 0', 'Division by zero.'],
    ['input.n + input.text', 'Cannot add a number and text.'],
    ['9007199254740993', 'not exact'],
    ['input.big * 1e300', 'finite'],
    ['9223372036854775807 + 1', 'The whole number does not fit 64 bits.'],
  ])('%s fails', (source, reason) => {
    expect(evaluate(source, { input })).toEqual(failed(reason));
  });
});

describe('reading', () => {
  const input = { 'horse-id': 'H1', id: 'H1', seven: 7, none: null, list: ['a', 'b'] };
  const entities = { horse: { H1: { stamina: 10 }, '7': { stamina: 3 } } };
  it.each([
    ['input["horse-id"]', 'H1'],
    ['entities.horse[input.id].stamina - 1', 9],
    ['entities.horse[input.seven].stamina', 3],
    ['input.seven in entities.horse', true],
    ['has(input.id)', true],
    ['has(input.nothing)', false],
    ['has(input["horse-id"])', true],
    ['has(input.none)', true],
    ['has(input.nothing) ? input.nothing : "default"', 'default'],
    ['input.none == null', true],
    ['type(input.seven) == double', true],
    ['input.list.map(x, x + "!")', ['a!', 'b!']],
    ['entities.horse.filter(id, entities.horse[id].stamina > 5)', ['H1']],
    ['cel.bind(h, entities.horse.H1, {"s": h.stamina, "t": h.stamina})', { s: 10, t: 10 }],
    ['timestamp("2026-11-21T09:30:00Z") + duration("90m")', '2026-11-21T11:00:00Z'],
    ['timestamp("2026-11-21T09:30:00Z").getHours("Europe/Berlin")', 10],
    ['timestamp(unix).getFullYear()', 2026],
    ['timestamp', '2026-11-21T09:30:00.000Z'],
  ])('%s', (source, value) => {
    const scope = { input, entities, unix: 1_795_253_400, timestamp: '2026-11-21T09:30:00.000Z' };
    expect(evaluate(source, scope)).toEqual(value);
  });

  it.each([
    ['input.missing', 'The input has no "missing".'],
    ['input.none.deeper', 'Cannot read "deeper" of null.'],
    ['input.list[2]', 'has no element 2'],
    ['input.list[0.5]', 'whole number'],
    ['has(input.a.b)', 'The input has no "a".'],
    ['input.id ? 1 : 2', 'must be true or false'],
    ['{"a": 1, "a": 2}', 'appears twice'],
    ['input.list.all(x, x.y)', 'Cannot read "y" of text.'],
    ['unix', 'has no value here'],
  ])('%s fails', (source, reason) => {
    expect(evaluate(source, { input, entities })).toEqual(failed(reason));
  });
});

describe('what is refused when compiling', () => {
  it.each([
    ['inptu.x', 'unknown_name'],
    ['nope(1)', 'unknown_function'],
    ['input.constructor()', 'unknown_function'],
    ['constructor', 'unknown_name'],
    ['toString()', 'unknown_function'],
    ['input.text.matches("a+")', 'unsupported'],
    ['matches(input.text, "a+")', 'unsupported'],
    ['1u', 'unsupported'],
    ['b"x"', 'unsupported'],
    ['input.', 'template_syntax'],
    ['has(1)', 'template_syntax'],
    ['input.list.map(1, 2)', 'template_syntax'],
    ['99999999999999999999', 'template_syntax'],
    ['[1].map(a, [1].map(b, [1].map(c, [1].map(d, d))))', 'template_too_large'],
    [`1${'+1'.repeat(600)}`, 'template_too_large'],
    ['('.repeat(500), 'template_too_large'],
    ['x'.repeat(5_000), 'template_too_large'],
  ])('%s', (source, code) => {
    expect(evaluate(source)).toEqual({ fault: code });
  });
});

describe('names in another normal form', () => {
  const scope = {
    input: { id: 'Zoe\u0308', both: { 'e\u0301': 1, '\u00e9': 2 } },
    entities: { horse: { 'Zo\u00eb': { n: 1 } } },
  };
  it.each([
    ['entities.horse[input.id].n', 1],
    ['input.id in entities.horse', true],
    ['has(entities.horse[input.id])', true],
    ['has(entities.horse["Zoe"])', false],
    ['input.both["e\u0301"]', 1],
  ])('%s', (source, value) => {
    expect(evaluate(source, scope)).toEqual(value);
  });
});

describe('prototypes', () => {
  it.each(['constructor', 'toString', '__defineGetter__', 'hasOwnProperty'])(
    '%s cannot be reached',
    (key) => {
      expect(evaluate(`input.${key}`, { input: {} })).toEqual(failed('The input has no'));
      expect(evaluate(`input["${key}"]`, { input: {} })).toEqual(failed('The input has no'));
      expect(evaluate(`"${key}" in input || has(input.${key})`, { input: {} })).toBe(false);
      expect(evaluate(`"text".${key}`, {})).toEqual(failed('Cannot read'));
    },
  );

  it('reads no inherited names of the scope', () => {
    expect(evaluate('input', Object.create({ input: 1 }))).toEqual(failed('has no value'));
  });

  it.each(['__proto__', 'constructor', 'prototype'])('%s is no key of a result', (key) => {
    expect(evaluate(`{"${key}": 1}`)).toEqual(failed('is not allowed'));
  });
});

describe('errors and logic', () => {
  it('either operand of || and && may decide', () => {
    expect(evaluate('input.missing || true', { input: {} })).toBe(true);
    expect(evaluate('input.missing && false', { input: {} })).toBe(false);
    expect(evaluate('[1, 0].exists(x, x == 0 || input.missing)', { input: {} })).toBe(true);
  });

  it('too much work is not absorbed', () => {
    const input = { list: Array.from({ length: 1_000 }, (_, i) => i) };
    expect(evaluate('input.list.all(a, input.list.all(b, a + b >= 0)) || true', { input })).toEqual(
      failed('more work'),
    );
  });

  it('refuses text that PostgreSQL and UTF-8 cannot hold', () => {
    expect(evaluate(String.raw`"\x00"`)).toEqual(failed('U+0000'));
    expect(evaluate('"😀".substring(0, 1)')).toBe('😀');
  });
});
