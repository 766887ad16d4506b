import { findUnsafeJson, type JsonValue, parseJson } from '@orrery/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileTemplate } from './compile-template.js';
import { evaluateTemplate } from './evaluate-template.js';

const NAMES = ['input', 'entities'];

/** Expressions that mostly compile, over data that mostly does not fit them. */
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      'input',
      'input.a',
      'input["b-c"]',
      'entities.horse',
      '1',
      '0.5',
      'null',
      'true',
      '"x"',
      '[]',
    ),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '%', '==', '<', '&&', '||', 'in'),
        tie('expression'),
      )
      .map(([a, op, b]) => `(${a} ${op} ${b})`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `${a}[${b}]`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc
      .tuple(
        fc.constantFrom('size', 'string', 'int', 'double', 'type', 'timestamp', 'duration', 'dyn'),
        tie('expression'),
      )
      .map(([f, a]) => `${f}(${a})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('map', 'filter', 'all', 'exists'), tie('expression'))
      .map(([a, macro, b]) => `${a}.${macro}(x, ${b})`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `{"k": ${a}, ${b}: 1}`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `[${a}, ${b}]`),
  ),
}));

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;

it('evaluating never throws, and gives JSON that any service accepts', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.array(expression, { minLength: 1, maxLength: 3 }), json, (sources, input) => {
      const template = {
        'k{{ size([1]) }}': sources.map((source) => `{{ ${source} }}`),
        text: `a {{ ${sources[0]} }}`,
      };
      const compiled = compileTemplate(template, { names: NAMES });
      if (!compiled.ok) {
        expect(compiled.problems.length).toBeGreaterThan(0);
        return;
      }
      const result = evaluateTemplate(compiled.template, { input, entities: { horse: { H1: input } } });
      if (result.ok) expectSound(result.value);
      else expect(result.problem.reason).not.toBe('');
    }),
    { numRuns: 400 },
  );
});

it('compiling never throws, whatever the text', { timeout: 60_000 }, () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '//',
    'input',
    '.a',
    '(',
    ')',
    '[',
    ' ',
    '\n',
    '1',
    'r"',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, json, (source, value) => {
      for (const mutation of [true, false])
        compileTemplate({ [source]: [source, value] } as JsonValue, { names: NAMES, mutation });
    }),
    { numRuns: 500 },
  );
});

it('a template without placeholders stands for itself', { timeout: 60_000 }, () => {
  const plain = json.filter((value) => !JSON.stringify(value).includes('{{') && isExact(value));
  fc.assert(
    fc.property(plain, (value) => {
      const compiled = compileTemplate(value, { names: [] });
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      expect(evaluateTemplate(compiled.template, {})).toEqual({ ok: true, value });
    }),
  );
});

it('an input copied by one placeholder arrives unchanged', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(json.filter(isExact), (input) => {
      const compiled = compileTemplate('{{ input }}', { names: NAMES });
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      expect(evaluateTemplate(compiled.template, { input })).toEqual({ ok: true, value: input });
    }),
  );
});

function expectSound(value: JsonValue): void {
  expect(findUnsafeJson(value, 40)).toBeUndefined();
  expect(parseJson(JSON.stringify(value))).toEqual(value);
}

/** Values that entrances let in and results may hold. */
function isExact(value: JsonValue): boolean {
  if (findUnsafeJson(value) !== undefined) return false;
  return !/-0|[0-9]{16,}|e\+?[0-9]{2}/.test(JSON.stringify(value, (_, v) => (Object.is(v, -0) ? '-0' : v)));
}
