import type { JsonObject, JsonValue } from '@orrery/contracts';
import { cpuMs } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { findCertainRefusals } from '../mistakes/find-contract-mistakes.js';
import { CRON_NAME_KINDS } from '../templates/template-names.js';
import { compileContract } from './compile-contract.js';
import { firstMissingStep, undeclaredStep } from './covers-path.js';
import { checkAgainst } from './keywords/validation.js';

/** Aimed at is 50 ms; a busy machine may take its time, and gets a second chance. Without bounds these take minutes. */
const LIMIT_MS = 500;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const mapOf = (count: number, make: (index: number) => JsonValue, key = 'k'): JsonObject =>
  Object.fromEntries(times(count, (i) => [`${key}${i}`, make(i)]));
const about = (a: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { a },
  ...more,
});
const nest = (levels: number): JsonValue => (levels === 0 ? 1 : [nest(levels - 1)]);
const doubling = (keyword: string): JsonObject =>
  mapOf(60, (i) =>
    i === 59 ? { type: 'string' } : { [keyword]: times(2, () => ({ $ref: `#/$defs/k${i + 1}` })) },
  );
const twice = [{ items: { $ref: '#/$defs/x' } }, { items: { $ref: '#/$defs/x' } }];

const cases: [string, JsonObject, JsonValue][] = [
  [
    'references that double with the depth of the value',
    about({ $ref: '#/$defs/x' }, { $defs: { x: { allOf: twice } } }),
    { a: nest(30) },
  ],
  [
    'references that double sixty times',
    about({ $ref: '#/$defs/k0' }, { $defs: doubling('allOf') }),
    { a: 'x' },
  ],
  [
    'alternatives that double sixty times',
    about({ $ref: '#/$defs/k0' }, { $defs: doubling('anyOf') }),
    { a: 1 },
  ],
  ['uniqueItems over objects', about({ uniqueItems: true }), { a: times(20_000, () => ({})) }],
  [
    'many alternatives times many elements',
    about({ items: { anyOf: times(900, (i) => ({ const: i })) } }),
    { a: times(20_000, () => 'z') },
  ],
  [
    'many patterns times many keys',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      patternProperties: mapOf(100, () => ({}), '(x+x+)+y'),
    },
    mapOf(5_000, () => 1, 'xxxxxxxx'),
  ],
  [
    'large patterns',
    about({ patternProperties: Object.fromEntries(times(100, (i) => [`\\p{L}{${900 - i}}`, {}])) }),
    { a: { ['a'.repeat(60_000)]: 1 } },
  ],
  [
    'a slow pattern times many elements',
    about({ items: { pattern: '\\p{L}{900}' } }),
    { a: times(60, () => 'ab'.repeat(350)) },
  ],
  ['three thousand alternatives', about({ anyOf: times(3_000, (i) => ({ const: i })) }), { a: 1 }],
  [
    'required names over and over',
    about(
      { allOf: times(900, () => ({ $ref: '#/$defs/x' })) },
      { $defs: { x: { required: times(1_000, (i) => `k${i}`) } } },
    ),
    { a: {} },
  ],
  [
    'unevaluated keys of many alternatives',
    about({ unevaluatedProperties: false, anyOf: times(450, (i) => ({ properties: { [`k${i}`]: {} } })) }),
    { a: mapOf(5_000, () => 1) },
  ],
  [
    'large enums',
    about({ items: { enum: times(3_000, (i) => ({ a: i })) } }),
    { a: times(5_000, () => ({ a: 2_999 })) },
  ],
  ['a huge schema', about({ enum: times(50_000, (i) => i) }), { a: 1 }],
];

describe('compiling and checking end in time, without throwing', () => {
  it.each(cases)('%s', (_, schema, value) => {
    const compileAndCheck = () => {
      const compiled = compileContract(schema);
      if (!compiled.ok) return;
      checkAgainst(compiled.contract, value);
      undeclaredStep(compiled.contract, 'a.b.c.d.e.f.g.h');
      firstMissingStep(compiled.contract, 'a.b.c.d.e.f.g.h'.split('.'));
      findCertainRefusals({ a: value, b: '{{ counter }}' }, compiled.contract, CRON_NAME_KINDS);
    };
    expect(cpuMs(compileAndCheck)).toBeLessThan(LIMIT_MS);
  });

  it('two thousand levels', () => {
    let schema: JsonObject = {};
    for (let level = 0; level < 2_000; level++) schema = { properties: { a: schema } };
    expect(compileContract({ type: 'object', ...schema })).toMatchObject({
      ok: false,
      problems: [{ code: 'too_deep' }],
    });
  });

  it('what takes too long is a problem of its own', () => {
    const [, schema = {}, value = null] = cases[0] ?? [];
    const compiled = compileContract(schema);
    expect(compiled.ok && checkAgainst(compiled.contract, value)).toMatchObject([{ code: 'too_complex' }]);
  });
});

describe('an input full of fields that nothing declares', () => {
  const declared = mapOf(500, () => 'any?', 'a-name-of-sixty-letters-that-differs-little-from-all-others-');
  const compiled = compileContract(declared);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { contract } = compiled;
  const names = times(940, (i) => `a-name-of-sixty-letters-that-differs-little-from-all-othres-${i}`);

  it('is looked through until all problems that are told are found', () => {
    const read: string[] = [];
    const input = {};
    for (const name of names) {
      const get = () => read.push(name);
      Object.defineProperty(input, name, { enumerable: true, get });
    }
    expect(checkAgainst(contract, input)).toHaveLength(20);
    // Once to see that it does not fit, and again for the problems.
    expect(read).toHaveLength(1 + 20);
  });

  it('has suggestions for as many as some names can be compared with', () => {
    const problems = checkAgainst(contract, Object.fromEntries(names.map((name) => [name, 1])));
    const suggested = problems.filter(({ message }) => message.includes('Did you mean'));
    expect(problems).toHaveLength(20);
    expect(suggested).toHaveLength(2);
  });
});

describe('patterns that take long to compile', () => {
  const name = "^\\p{L}[\\p{L}\\p{N} '-]{0,40}$";
  const withPatterns = (count: number, pattern: (index: number) => string) => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string', pattern: pattern(index) }]),
    ),
  });

  it.each([
    ['one', withPatterns(1, () => `(?i)[${'\\pL'.repeat(330)}]`), 'too complex'],
    ['many', withPatterns(60, (index) => `${name}|^${index}$`), 'too many or too large patterns'],
  ])('%s: a new contract is refused, a saved one is not', (_what, schema, reason) => {
    expect(compileContract(schema, { isNew: true })).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([
        expect.objectContaining({ code: 'invalid_pattern', message: expect.stringContaining(reason) }),
      ]),
    });
    expect(compileContract(schema).ok).toBe(true);
  });

  it('the same one many times is compiled once', () => {
    expect(
      compileContract(
        withPatterns(90, () => name),
        { isNew: true },
      ).ok,
    ).toBe(true);
  });
});
