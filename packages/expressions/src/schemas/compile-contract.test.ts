import type { JsonObject, JsonValue } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { compileContract, toJsonSchema } from './compile-contract.js';
import { checkAgainst } from './keywords/validation.js';

function check(schema: JsonValue, value: JsonValue) {
  const compiled = compileContract(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return checkAgainst(compiled.contract, value).map(({ pointer, code }) => `${pointer} ${code}`);
}

describe('short map', () => {
  const race = {
    raceId: 'string',
    laps: 'integer?',
    tags: 'string[]',
    car: { speed: 'float' },
    any: 'json?',
  };
  const input = { raceId: 'r1', tags: ['a'], car: { speed: 1.5 } };

  it.each<[string, JsonValue, string[]]>([
    ['what fits', input, []],
    ['optional fields', { ...input, laps: 3, any: [null] }, []],
    ['a missing field', { tags: [], car: { speed: 1 } }, ['/raceId required']],
    ['an undeclared field', { ...input, extra: 1 }, ['/extra undeclared']],
    ['an undeclared field inside', { ...input, car: { speed: 1, wheels: 4 } }, ['/car/wheels undeclared']],
    ['null for an optional field', { ...input, laps: null }, ['/laps wrong_type']],
    ['a fraction for an integer', { ...input, laps: 1.5 }, ['/laps wrong_type']],
    ['an unsafe integer', { ...input, laps: 2 ** 53 }, ['/laps out_of_range']],
    ['a wrong element', { ...input, tags: ['a', 5] }, ['/tags/1 wrong_type']],
    ['something else than an object', [], [' wrong_type']],
    [
      'several at once',
      { laps: 'x', tags: 'y', car: {} },
      ['/raceId required', '/laps wrong_type', '/tags wrong_type', '/car/speed required'],
    ],
  ])('%s', (_, value, problems) => {
    expect(check(race, value).sort()).toEqual(problems.sort());
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['number', 0.5, '1'],
    ['boolean', false, 0],
    ['object', { a: 1 }, []],
    ['array', [1, 'a'], {}],
    ['integer[][]', [[1], []], [1]],
    ['string[]?', ['a'], null],
  ])('%s', (type, good, bad) => {
    expect(check({ f: type }, { f: good })).toEqual([]);
    expect(check({ f: type }, { f: bad })).not.toEqual([]);
  });

  it('may be empty: then nothing may be sent', () => {
    expect(check({}, {})).toEqual([]);
    expect(check({}, { a: 1 })).toEqual(['/a undeclared']);
  });

  it.each<[JsonObject, string]>([
    [{ a: 'strin' }, '/a'],
    [{ a: 'string?[]' }, '/a'],
    [{ a: { b: 5 } }, '/a/b'],
    [{ a: null }, '/a'],
    [{ type: 'object', required: ['a'] }, '/required'],
  ])('%j is refused', (map, pointer) => {
    expect(compileContract(map)).toMatchObject({ ok: false, problems: [{ pointer, code: 'unknown_type' }] });
  });

  it('may have a field named type or properties', () => {
    expect(check({ type: 'string', properties: 'integer' }, { type: 'a', properties: 1 })).toEqual([]);
  });
});

describe('JSON Schema', () => {
  const object = (rest: JsonObject): JsonObject => ({
    type: 'object',
    properties: { a: { type: 'string' } },
    ...rest,
  });

  it('is closed at its root unless it says otherwise', () => {
    expect(check(object({}), { a: 'x', b: 1 })).toEqual(['/b undeclared']);
    expect(check(object({ additionalProperties: true }), { a: 'x', b: 1 })).toEqual([]);
    expect(check(object({ additionalProperties: { type: 'string' } }), { b: 1 })).toEqual(['/b wrong_type']);
    expect(check(object({ unevaluatedProperties: true }), { b: 1 })).toEqual([]);
  });

  it('stays open further down, as JSON Schema has it', () => {
    const schema = { type: 'object', properties: { o: { type: 'object', properties: { a: {} } } } };
    expect(check(schema, { o: { a: 1, b: 2 } })).toEqual([]);
  });

  it('knows what is declared through allOf, $ref and the like', () => {
    const schema = object({ allOf: [{ $ref: '#/$defs/more' }], $defs: { more: { properties: { b: {} } } } });
    expect(check(schema, { a: 'x', b: 1 })).toEqual([]);
    expect(check(schema, { a: 'x', c: 1 })).toEqual(['/c undeclared']);
  });

  it('follows references, also into themselves', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $ref: '#/$defs/tree',
      $defs: {
        tree: {
          type: 'object',
          properties: {
            value: { type: 'integer' },
            children: { type: 'array', items: { $ref: '#/$defs/tree' } },
          },
        },
      },
    };
    expect(check(schema, { value: 1, children: [{ value: 2, children: [] }] })).toEqual([]);
    expect(check(schema, { children: [{ children: [{ value: 'x' }] }] })).toEqual([
      '/children/0/children/0/value wrong_type',
    ]);
  });

  it.each<[JsonObject, JsonValue, string[]]>([
    [{ anyOf: [true, { unevaluatedItems: false }], unevaluatedItems: false }, [1], ['/v/0 undeclared']],
    [{ anyOf: [{ prefixItems: [{}] }, { prefixItems: [{}, {}] }], unevaluatedItems: false }, [1, 2], []],
    [{ contains: { const: 1 }, unevaluatedItems: { type: 'string' } }, [1, 'a', 1], []],
    [{ contains: { const: 1 }, unevaluatedItems: { type: 'string' } }, [1, 2], ['/v/1 wrong_type']],
    [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [1, 1], ['/v wrong_length']],
    [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, ['/v no_match']],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['/v not_unique'],
    ],
    [{ multipleOf: 0.1 }, 0.3, []],
    [{ multipleOf: 2 }, 3, ['/v out_of_range']],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ['/v/ab not_allowed']],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['/v/b required']],
    [{ if: { type: 'string' }, else: { minimum: 5 } }, 4, ['/v out_of_range']],
  ])('%j on %j', (inner, value, problems) => {
    expect(check({ type: 'object', properties: { v: inner } }, { v: value })).toEqual(problems);
  });

  it.each<[string, JsonObject, string]>([
    ['$id', { $id: 'https://example.com/a' }, '/$id'],
    ['$async', { $async: true }, '/$async'],
    ['$dynamicRef', { $dynamicRef: '#a' }, '/$dynamicRef'],
    ['a remote reference', { $ref: 'https://example.com/a' }, '/$ref'],
    ['a reference to nothing', { $ref: '#/$defs/none' }, '/$ref'],
    ['a reference into data', { $ref: '#/enum/0', enum: [{ type: 'string' }] }, '/$ref'],
    ['a reference to itself', { $ref: '#' }, ''],
    ['a longer loop', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { not: { $ref: '#' } } } }, ''],
    ['a wrong keyword', { required: 'a' }, '/required'],
    ['an unknown type', { type: 'object', not: { type: 'strange' } }, '/not/type'],
    ['an empty allOf', { allOf: [] }, '/allOf'],
    ['a bad pattern', { not: { pattern: '(' } }, '/not/pattern'],
    ['a bad pattern as a key', { patternProperties: { '(': {} } }, '/patternProperties/('],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, '/$schema'],
    ['a list of items', { properties: { a: { items: [{}] } } }, '/properties/a/items'],
  ])('refuses %s', (_, rest, pointer) => {
    const compiled = compileContract(object(rest));
    expect(compiled).toMatchObject({ ok: false, problems: [expect.objectContaining({ pointer })] });
  });

  it('refuses what is no object', () => {
    for (const source of [null, true, 'string', [], 5]) expect(compileContract(source).ok).toBe(false);
  });
});

it('shows itself as closed JSON Schema 2020-12', () => {
  const compiled = compileContract({ raceId: 'string', tags: 'string[]?' });
  expect(compiled.ok && toJsonSchema(compiled.contract)).toEqual({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { raceId: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['raceId'],
    additionalProperties: false,
  });
});
