import { expect, it } from 'vitest';
import { type AttributeShape, checkAttributeDefinition } from './attribute.js';

const attribute = (shape: Partial<AttributeShape>): AttributeShape => ({
  name: 'a',
  type: 'string',
  ...shape,
});

it.each<Partial<AttributeShape>>([
  {},
  { type: 'integer', constraints: { min: 0, max: 10, required: true }, defaultValue: 5 },
  { type: 'float', constraints: { min: 0.5, max: 0.5 }, defaultValue: 0.5 },
  { constraints: { enum: ['a', 'b'], pattern: '^a' }, defaultValue: 'a' },
  { type: 'boolean', defaultValue: false },
  { type: 'json', defaultValue: { a: [null] } },
  { type: 'integer', constraints: null, defaultValue: null },
  { constraints: { required: true } },
  { indexed: true },
])('accepts %j', (shape) => {
  expect(checkAttributeDefinition(attribute(shape))).toEqual([]);
});

it.each<[string, Partial<AttributeShape>, string, string]>([
  [
    'min above max',
    { type: 'integer', constraints: { min: 2, max: 1 } },
    '/constraints/min',
    'contradictory_attribute',
  ],
  [
    'bounds without a whole number',
    { type: 'integer', constraints: { min: 0.2, max: 0.8 } },
    '/constraints/min',
    'contradictory_attribute',
  ],
  ['an index of JSON', { type: 'json', indexed: true }, '/indexed', 'contradictory_attribute'],
  ['min on text', { constraints: { min: 1 } }, '/constraints/min', 'contradictory_attribute'],
  [
    'max on a boolean',
    { type: 'boolean', constraints: { max: 1 } },
    '/constraints/max',
    'contradictory_attribute',
  ],
  [
    'enum on a number',
    { type: 'float', constraints: { enum: ['1'] } },
    '/constraints/enum',
    'contradictory_attribute',
  ],
  [
    'pattern on json',
    { type: 'json', constraints: { pattern: 'a' } },
    '/constraints/pattern',
    'contradictory_attribute',
  ],
  ['an empty enum', { constraints: { enum: [] } }, '/constraints/enum', 'contradictory_attribute'],
  ['a bad pattern', { constraints: { pattern: '(' } }, '/constraints/pattern', 'invalid_pattern'],
  [
    'an enum that no pattern lets through',
    { constraints: { enum: ['a'], pattern: 'b' } },
    '/constraints/pattern',
    'contradictory_attribute',
  ],
  [
    'a default of another type',
    { type: 'integer', defaultValue: '1' },
    '/defaultValue',
    'contradictory_attribute',
  ],
  [
    'a default that is not whole',
    { type: 'integer', defaultValue: 1.5 },
    '/defaultValue',
    'contradictory_attribute',
  ],
  [
    'a default out of bounds',
    { type: 'float', constraints: { max: 1 }, defaultValue: 2 },
    '/defaultValue',
    'contradictory_attribute',
  ],
  [
    'a default outside the enum',
    { constraints: { enum: ['a'] }, defaultValue: 'b' },
    '/defaultValue',
    'contradictory_attribute',
  ],
  [
    'a default that breaks the pattern',
    { constraints: { pattern: '^a' }, defaultValue: 'b' },
    '/defaultValue',
    'contradictory_attribute',
  ],
])('finds %s', (_, shape, pointer, code) => {
  expect(checkAttributeDefinition(attribute(shape))).toMatchObject([{ pointer, code }]);
});

it('takes an enum for right whose values cost too much to compare with the pattern', () => {
  const values = Array.from({ length: 1000 }, (_, n) => `${'a'.repeat(550)}${n}`);
  const constraints = { enum: values, pattern: 'a.{0,570}z' };
  expect(checkAttributeDefinition(attribute({ constraints }))).toEqual([]);
});
