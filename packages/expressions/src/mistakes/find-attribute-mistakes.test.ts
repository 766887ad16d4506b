import type { JsonValue } from '@orrery/contracts';
import { expect, it } from 'vitest';
import type { AttributeShape } from '../attributes/attribute.js';
import { findUnfitLiterals } from './find-change-mistakes.js';

const attributes: AttributeShape[] = [
  { name: 'coins', type: 'integer', constraints: { min: 0, max: 100, required: true } },
  { name: 'speed', type: 'float' },
  { name: 'mood', type: 'string', constraints: { enum: ['calm', 'wild'] } },
  { name: 'code', type: 'string', constraints: { pattern: '^[A-Z]+$' } },
  { name: 'lame', type: 'boolean' },
  { name: 'form', type: 'json' },
];
const schemas = new Map([['horse', attributes]]);
const findIn = (change: JsonValue) => findUnfitLiterals({ 'horse:{{ input.id }}': change }, schemas);

it.each<[string, JsonValue, string]>([
  ['coins', 'five', 'wrong_type'],
  ['coins', 1.5, 'wrong_type'],
  ['coins', -1, 'out_of_range'],
  ['coins', 101, 'out_of_range'],
  ['coins', 'x{{ input.n }}', 'wrong_type'],
  ['coins', [], 'wrong_type'],
  ['coins', { n: '{{ input.n }}' }, 'wrong_type'],
  ['speed', true, 'wrong_type'],
  ['mood', 'glad', 'not_allowed'],
  ['mood', 7, 'wrong_type'],
  ['code', 'a', 'pattern_mismatch'],
  ['lame', 'yes', 'wrong_type'],
])('finds that %s refuses %j', (name, value, code) => {
  expect(findIn({ [name]: value })).toMatchObject([{ pointer: `/horse:{{ input.id }}/${name}`, code }]);
  const [set] = findIn({ [name]: { $set: value } });
  expect(set).toMatchObject({ pointer: `/horse:{{ input.id }}/${name}/$set`, code });
});

it.each<[string, JsonValue]>([
  ['coins', 100],
  ['coins', null],
  ['coins', '{{ input.n }}'],
  ['coins', { $increment: -1 }],
  ['coins', { $increment: '{{ input.n }}' }],
  ['coins', { $increment: null }],
  ['coins', { $unset: true }],
  ['coins', { $append: 1 }],
  ['speed', 1],
  ['mood', 'wild'],
  ['mood', '{{ input.a }}{{ input.b }}'],
  ['code', 'X{{ input.n }}'],
  ['form', [1, 'x', { a: null }]],
  ['form', { $append: 1 }],
  ['form', { $increment: 1 }],
  ['other', 'anything'],
])('leaves %s with %j to the executions', (name, value) => {
  expect(findIn({ [name]: value })).toEqual([]);
});

it('looks at no change whose schema or attributes a placeholder gives', () => {
  const change = { coins: 'five' };
  const open = { '{{ input.key }}': change, 'pony:P1': change, 'horse:H1': '{{ input.horse }}' };
  expect(findUnfitLiterals(open, schemas)).toEqual([]);
  expect(findIn({ '{{ input.name }}': 'five' })).toEqual([]);
  expect(findIn({ $delete: true })).toEqual([]);
});
