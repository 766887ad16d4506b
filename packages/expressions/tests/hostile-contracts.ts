import type { JsonObject, JsonValue } from '@orrery/contracts';

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const mapOf = (count: number, make: (index: number) => JsonValue, key = 'k'): JsonObject =>
  Object.fromEntries(times(count, (i) => [`${key}${i}`, make(i)]));
const about = (a: JsonValue, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { a },
  ...more,
});
/** One schema applied `count` times to the same value: references are short, and each counts as one schema. */
const repeated = (schema: JsonObject, count = 900, keyword = 'allOf'): JsonObject =>
  about({ [keyword]: times(count, () => ({ $ref: '#/$defs/x' })) }, { $defs: { x: schema } });

const KEYS = 8_000;
const ITEMS = 30_000;
const object = mapOf(KEYS, (i) => i);
const list = times(ITEMS, (i) => i);
const objects = times(10_000, (i) => ({ a: i }));
const text = 'a'.repeat(60_000);
const letters = 'ab'.repeat(30_000);
const deep = (levels: number): JsonValue => (levels === 0 ? 1 : [deep(levels - 1)]);

/** Each keyword of JSON Schema, applied as often as a contract allows to the largest of what it takes. */
export const contracts: readonly [string, JsonObject, JsonValue][] = [
  ['type', repeated({ type: ['string', 'array'] }), list],
  ['enum of lists', repeated({ enum: [times(10, (i) => i), 'x'] }), list],
  ['enum of objects', repeated({ enum: [{ a: 1 }] }), object],
  ['const', repeated({ const: { a: 1 } }, 900, 'anyOf'), objects],
  ['enum of many texts', about({ enum: times(6_000, (i) => `t${i}`) }), text],
  [
    'minimum',
    about({ items: { minimum: 1, maximum: 2, multipleOf: 0.1, exclusiveMinimum: 0, exclusiveMaximum: 9 } }),
    list,
  ],
  ['multipleOf', about({ items: { anyOf: times(900, (i) => ({ multipleOf: 7.7 + i })) } }), list],
  ['minLength', repeated({ minLength: 70_000 }, 900, 'anyOf'), text],
  ['maxLength', repeated({ maxLength: 70_000 }), text],
  ['pattern', repeated({ pattern: '^[a-z]{1,255}$' }, 900, 'anyOf'), 'a'.repeat(1_300)],
  [
    'pattern of every element',
    about({ items: { pattern: '\\p{L}{500}' } }),
    times(200, () => letters.slice(0, 1_390)),
  ],
  [
    'patterns of every element',
    about({ items: { anyOf: times(20, (i) => ({ pattern: `(a|b)*a(a|b){${i + 90}}c` })) } }),
    times(60, () => letters.slice(0, 900)),
  ],
  ['minItems', repeated({ minItems: 90_000 }, 900, 'anyOf'), list],
  ['uniqueItems', repeated({ uniqueItems: true }), list],
  ['uniqueItems of objects', repeated({ uniqueItems: true }), objects],
  [
    'uniqueItems of equal texts',
    repeated({ uniqueItems: true }, 900, 'anyOf'),
    times(60, () => text.slice(0, 1_000)),
  ],
  ['items: true', repeated({ items: true }), list],
  ['items: {}', repeated({ items: {} }), list],
  ['prefixItems', repeated({ prefixItems: [true, true], items: true }), list],
  ['contains', repeated({ contains: { const: -1 } }, 900, 'anyOf'), list],
  ['contains, counted', repeated({ contains: true, minContains: 90_000 }, 900, 'anyOf'), list],
  ['unevaluatedItems', repeated({ unevaluatedItems: true }), list],
  ['unevaluatedItems after contains', repeated({ contains: true, unevaluatedItems: false }), list],
  [
    'unevaluatedItems after alternatives',
    about({ unevaluatedItems: false, anyOf: times(450, () => ({ contains: true })) }),
    list,
  ],
  ['required', repeated({ required: times(4_000, (i) => `k${i}`) }), object],
  ['required, absent', repeated({ required: times(4_000, (i) => `z${i}`) }, 900, 'anyOf'), object],
  ['minProperties', repeated({ minProperties: 1 }), object],
  ['maxProperties', repeated({ maxProperties: 1 }, 900, 'anyOf'), object],
  ['dependentRequired', repeated({ dependentRequired: mapOf(900, (i) => [`k${i + 1}`]) }), object],
  ['dependentSchemas', about({ dependentSchemas: mapOf(450, () => ({ minProperties: 1 })) }), object],
  ['propertyNames', repeated({ propertyNames: { maxLength: 9 } }), object],
  ['propertyNames: true', repeated({ propertyNames: true }), object],
  ['properties', repeated({ properties: mapOf(90, () => true) }), object],
  ['patternProperties', about({ patternProperties: mapOf(90, () => true, '(x+x+)+y') }), object],
  ['additionalProperties: true', repeated({ additionalProperties: true }), object],
  ['additionalProperties', repeated({ additionalProperties: { type: 'integer' } }), object],
  ['additionalProperties: false', repeated({ additionalProperties: false }, 900, 'anyOf'), object],
  ['unevaluatedProperties', repeated({ unevaluatedProperties: true }), object],
  [
    'unevaluatedProperties after properties',
    repeated({ additionalProperties: true, unevaluatedProperties: false }),
    object,
  ],
  [
    'unevaluatedProperties after alternatives',
    about({ unevaluatedProperties: false, anyOf: times(450, () => ({ additionalProperties: true })) }),
    object,
  ],
  [
    'nested unevaluatedProperties',
    repeated({
      allOf: [{ additionalProperties: true, unevaluatedProperties: true }],
      unevaluatedProperties: true,
    }),
    object,
  ],
  ['not', about({ items: { allOf: times(490, () => ({ not: { const: -1 } })) } }), list],
  ['oneOf', about({ items: { oneOf: times(900, (i) => ({ const: i })) } }), list],
  [
    'if, then, else',
    about({
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
      items: { allOf: times(240, () => ({ if: { minimum: 1 }, then: { maximum: 99 }, else: true })) },
    }),
    list,
  ],
  [
    'references that double with the depth',
    about(
      { $ref: '#/$defs/x' },
      { $defs: { x: { allOf: [{ items: { $ref: '#/$defs/x' } }, { items: { $ref: '#/$defs/x' } }] } } },
    ),
    deep(30),
  ],
  [
    'a list of objects',
    about({
      items: {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'integer', minimum: 0 } },
        additionalProperties: false,
      },
    }),
    objects,
  ],
  ['a short map', { a: 'json[]' }, objects],
];
