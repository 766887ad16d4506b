import type { JsonObject, JsonValue } from '@orrery/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { drawValue } from './draw-value.js';
import { createRandom, SchemaNotDrawable } from './random.js';

const ajv = new Ajv2020({ strict: false });
const drawn = (schema: JsonValue, seeds = 100): JsonValue[] =>
  Array.from({ length: seeds }, (_, seed) => drawValue(schema, createRandom(`seed ${seed}`)));
const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...rest,
});

const schemas: Record<string, JsonObject> = {
  'a constant': { const: { a: [1] } },
  'an enum': { enum: ['a', 'b', null] },
  'a bounded integer': { type: 'integer', minimum: 3, maximum: 7 },
  'an integer without bounds': { type: 'integer' },
  'an integer above all small ones': { type: 'integer', minimum: 1000 },
  'a negative integer': { type: 'integer', maximum: -5 },
  'exclusive bounds': { type: 'integer', exclusiveMinimum: 2, exclusiveMaximum: 4 },
  multiples: { type: 'integer', minimum: 1, maximum: 40, multipleOf: 5 },
  'a narrow number': { type: 'number', minimum: 0.001, maximum: 0.002 },
  'a number': { type: 'number', minimum: -1.5, maximum: 1.5 },
  'the widest number': { type: 'number', minimum: -1.7e308, maximum: 1.7e308 },
  'a pattern': { type: 'string', pattern: '^HORSE_[0-9]{1,3}$' },
  'a pattern of one length': { type: 'string', pattern: '^[a-z]+$', minLength: 3, maxLength: 4 },
  'a long text': { type: 'string', minLength: 300, maxLength: 310 },
  'a short text': { type: 'string', maxLength: 2 },
  'an empty text': { type: 'string', maxLength: 0 },
  'no text but null': { type: ['null', 'string'], maxLength: 1 },
  'a list': { type: 'array', items: { type: 'boolean' }, minItems: 2, maxItems: 5 },
  'a list without repetition': { type: 'array', items: { enum: [1, 2, 3] }, uniqueItems: true, minItems: 2 },
  'a pair': {
    type: 'array',
    prefixItems: [{ type: 'integer' }, { type: 'string' }],
    items: false,
    minItems: 2,
    maxItems: 2,
  },
  members: object({ a: { type: 'integer' }, b: { anyOf: [{ type: 'null' }, { type: 'string' }] } }),
  'optional members': object({ a: { type: 'integer' }, b: { type: 'string' } }, { required: ['b'] }),
  'members by the way': { required: ['x'], properties: { y: { type: 'integer' } }, type: 'object' },
  'keywords without a type': { properties: { a: { minimum: 2, maximum: 3 } }, required: ['a'] },
  references: {
    $defs: { id: { type: 'string', minLength: 1 }, 'a/b': { $ref: '#/$defs/id' } },
    ...object({ a: { $ref: '#/$defs/a~1b' } }),
  },
  'a recursive tree': {
    $defs: {
      node: object({
        value: { type: 'integer' },
        children: { type: 'array', items: { $ref: '#/$defs/node' } },
      }),
    },
    $ref: '#/$defs/node',
  },
  'alternatives with something in common': {
    type: 'object',
    required: ['kind', 'a'],
    properties: { a: { type: 'integer' } },
    anyOf: [{ properties: { kind: { const: 'x' } } }, { properties: { kind: { const: 'y' } } }],
  },
  'all of several': {
    allOf: [
      { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
      { properties: { b: { const: 1 } }, required: ['b'] },
    ],
  },
};

describe('drawValue', () => {
  it.each(Object.entries(schemas))('fits %s', (_, schema) => {
    const validate = ajv.compile(schema);
    for (const value of drawn(schema))
      expect(validate(value), JSON.stringify([value, validate.errors])).toBe(true);
  });

  it.each(['(?i)^abc+$', '^(?P<letter>[a-c])-[0-9]$'])(
    'draws texts of the pattern %s, as RE2 has it',
    (pattern) => {
      for (const text of drawn({ type: 'string', pattern })) expect(text).toMatch(/^(abc+|[a-c]-[0-9])$/);
    },
  );

  it('draws every possibility', () => {
    const values = (schema: JsonObject) => new Set(drawn(schema).map((value) => JSON.stringify(value))).size;
    expect(values({ enum: ['a', 'b', null] })).toBe(3);
    expect(values({ type: 'integer', minimum: 3, maximum: 7 })).toBe(5);
    expect(values({ anyOf: [{ type: 'null' }, { const: 1 }, { const: 2 }] })).toBe(3);
    expect(values(object({ a: { const: 1 } }, { required: [] }))).toBe(2);
  });

  it('names each instance once in a list', () => {
    const change = object({ instanceId: { enum: ['H1', 'H2', 'H3'] }, wins: { type: 'integer' } });
    for (const list of drawn({ type: 'array', items: change, minItems: 1, maxItems: 9 })) {
      const names = (list as JsonObject[]).map(({ instanceId }) => instanceId);
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('draws the same for the same seed', () => {
    const schema = schemas['a recursive tree'] ?? {};
    expect(drawValue(schema, createRandom('7'))).toEqual(drawValue(schema, createRandom('7')));
    expect(drawn(schema)).not.toEqual(drawn(schema).reverse());
  });

  it.each<[string, JsonValue]>([
    ['nothing', false],
    ['no choice', { enum: [] }],
    ['contradicting bounds', { type: 'integer', minimum: 2, maximum: 1 }],
    ['contradicting lengths', { type: 'string', minLength: 2, maxLength: 1 }],
    [
      'more different items than there are',
      { type: 'array', items: { const: 1 }, uniqueItems: true, minItems: 2 },
    ],
    ['an unknown type', { type: 'date' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/absent' }],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }],
    ['a reference to itself', { $ref: '#' }],
    ['a schema that requires itself', object({ again: { $ref: '#' } })],
    ['a list as long as memory', { type: 'array', items: {}, minItems: 1e9 }],
    ['a text as long as memory', { type: 'string', minLength: 1e9 }],
    [
      'lists of lists of lists',
      { type: 'array', minItems: 500, items: { type: 'array', minItems: 500, items: {} } },
    ],
    ['a pattern that is none', { type: 'string', pattern: '(' }],
    ['a pattern of another length', { type: 'string', pattern: '^abc$', maxLength: 2 }],
  ])('refuses %s', (_, schema) => {
    expect(() => drawValue(schema, createRandom('1'))).toThrow(SchemaNotDrawable);
  });
});
