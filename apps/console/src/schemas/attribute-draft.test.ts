import { expect, it } from 'vitest';
import type { Attribute } from '../api/records.js';
import { bodyOf, draftOf } from './attribute-form.js';

const EMPTY = {
  name: 'owner',
  type: 'string',
  constraints: null,
  indexed: false,
  defaultValue: null,
} as const;

it.each<Partial<Attribute>>([
  { constraints: { enum: ['Smith, John', 'x'] } },
  { constraints: { enum: ['', ' a '], required: true } },
  { constraints: { pattern: ' +' }, defaultValue: ' a, b ' },
  { defaultValue: '' },
  { defaultValue: '""' },
  { defaultValue: '"quoted' },
  { defaultValue: 'two\nlines' },
  { type: 'integer', constraints: { min: -1, max: 1e6 }, defaultValue: 0, indexed: true },
  { type: 'boolean', defaultValue: false },
  { type: 'json', defaultValue: '' },
  { type: 'json', defaultValue: { a: [''] } },
])('an attribute that nobody has edited stays as it is: %j', (given) => {
  const attribute = { ...EMPTY, ...given } as Attribute;
  expect(bodyOf(draftOf(attribute))).toEqual(attribute);
});

it('takes a default in quotes as JSON, and leaves out one that is empty', () => {
  const draft = draftOf(EMPTY as unknown as Attribute);
  expect(bodyOf({ ...draft, defaultValue: '""' }).defaultValue).toBe('');
  expect(bodyOf({ ...draft, defaultValue: '' }).defaultValue).toBeNull();
  expect(bodyOf({ ...draft, defaultValue: '"Star"' }).defaultValue).toBe('Star');
});
