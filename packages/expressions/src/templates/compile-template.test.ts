import type { JsonValue } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { compileTemplate } from './compile-template.js';
import { evaluateTemplate } from './evaluate-template.js';
import { CRON_TEMPLATE_NAMES, DIRECT_TEMPLATE_NAMES } from './template-names.js';

function problemsOf(template: JsonValue, names: readonly string[] = DIRECT_TEMPLATE_NAMES) {
  const compiled = compileTemplate(template, { names });
  return compiled.ok ? [] : compiled.problems;
}

describe('places of problems', () => {
  it('points to the text, and names line, column and placeholder', () => {
    const [problem] = problemsOf({ 'horse:A': { wins: ['x', 'first\nand {{ inptu.x }}'] } });
    expect(problem).toEqual({
      pointer: '/horse:A/wins/1',
      code: 'unknown_name',
      message: expect.stringContaining('Line 2, column 8: The name "inptu" is not known.'),
    });
    expect(problem?.message).toContain('{{ inptu.x }}');
  });

  it('finds those in keys, escaped as RFC 6901 says', () => {
    expect(problemsOf({ 'a/{{ b': 1 })).toMatchObject([{ pointer: '/a~1{{ b', code: 'template_syntax' }]);
  });

  it('finds several at once', () => {
    const problems = problemsOf({ a: '{{ 1 + }}', b: '{{ nope }}', c: '{{ input.x.matches("a") }}' });
    expect(problems.map(({ code }) => code)).toEqual(['template_syntax', 'unknown_name', 'unsupported']);
  });
});

it('knows the names of each context', () => {
  expect(problemsOf('{{ counter }}')).toHaveLength(1);
  expect(problemsOf('{{ counter }}', CRON_TEMPLATE_NAMES)).toEqual([]);
  expect(problemsOf('{{ input.x }}', CRON_TEMPLATE_NAMES)).toHaveLength(1);
});

describe('bounds', () => {
  const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);
  it.each<[string, JsonValue]>([
    ['depth', nested(33)],
    ['size', 'x'.repeat(262_145)],
    ['values', Array.from({ length: 10_001 }, () => 1)],
    ['placeholders', '{{ 1 }}'.repeat(1_001)],
    ['parts', Array.from({ length: 100 }, () => `{{ ${'1 + '.repeat(150)}1 }}`)],
  ])('%s', (_, template) => {
    expect(problemsOf(template)).toMatchObject([{ code: 'template_too_large' }]);
  });

  it('reports at most 20 problems', () => {
    expect(problemsOf(Array.from({ length: 100 }, () => '{{ nope }}'))).toHaveLength(20);
  });

  it('takes what a real template needs', () => {
    expect(problemsOf(Array.from({ length: 500 }, () => '{{ input.a.b + 1 }}'))).toEqual([]);
    expect(problemsOf(nested(32))).toEqual([]);
  });
});

it('takes operators apart only in mutations', () => {
  const template = { 'horse:A': { wins: { $inc: 1 } } };
  expect(compileTemplate(template, { names: [] }).ok).toBe(true);
  expect(compileTemplate(template, { names: [], mutation: true })).toMatchObject({
    ok: false,
    problems: [{ pointer: '/horse:A/wins/$inc', code: 'unknown_operator' }],
  });
});

describe('a map of changes whose keys are computed', () => {
  const change = { 'horse:H1': { wins: { $increment: 1000 } } };
  it.each([
    [{ '{{ input.key }}': '{{ input.change }}' }, { key: 'stateChanges', change }],
    [{ '{{ input.key }}': '{{ input.change }}' }, { key: 'result', change }],
    [
      { stateChanges: '{{ input.change }}', '{{ input.key }}': {} },
      { key: 'result', change },
    ],
  ])('%j does not become the form that runs operators', (template, input) => {
    const compiled = compileTemplate(template, { names: ['input'], mutation: true });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    const outcome = evaluateTemplate(compiled.template, { input });
    expect(outcome).toMatchObject({
      ok: false,
      problem: { reason: expect.stringMatching(/^Data may not bring the key/) },
    });
  });
});
