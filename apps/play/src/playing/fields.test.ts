import { expect, it } from 'vitest';
import { fieldAt, fieldsOf, inputOf } from './fields.js';

const contract = (properties: object, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
const kinds = (properties: object) => fieldsOf(contract(properties))?.map(({ kind }) => kind);

it('has a control for each member of a contract', () => {
  const properties = {
    name: { type: 'string' },
    story: { type: 'string', maxLength: 1000 },
    laps: { type: 'integer', minimum: 1, maximum: 9 },
    speed: { type: 'number' },
    isWet: { type: 'boolean' },
    gait: { enum: ['trot', 'walk'] },
    tags: { type: 'array', items: { type: 'string' } },
    any: true,
  };
  expect(kinds(properties)).toEqual(['text', 'long', 'whole', 'number', 'boolean', 'choice', 'json', 'json']);
  expect(fieldsOf(contract(properties))?.[2]?.hint).toBe('a whole number, 1 to 9');
});

it('has no form for what is no plain object', () => {
  for (const schema of [null, { type: 'array' }, { type: 'object' }, contract({}, ['absent'])])
    expect(fieldsOf(schema)).toBeUndefined();
  expect(fieldsOf(contract({}))).toEqual([]);
});

const typed = (properties: object, texts: Record<string, string>, required?: string[]) =>
  inputOf(fieldsOf(contract(properties, required)) ?? [], texts);

it('makes values of what was typed', () => {
  const properties = {
    name: { type: 'string' },
    laps: { type: 'integer' },
    isWet: { type: 'boolean' },
    gait: { enum: ['trot', 7] },
    more: { type: 'object' },
  };
  const texts = { name: ' x ', laps: '3', isWet: 'true', gait: '1', more: '{"a":[1]}' };
  expect(typed(properties, texts)).toEqual({
    input: { name: ' x ', laps: 3, isWet: true, gait: 7, more: { a: [1] } },
  });
});

it('leaves out what is empty and optional, and says what is wrong', () => {
  const properties = { name: { type: 'string' }, laps: { type: 'integer' }, more: {} };
  expect(typed(properties, { name: 'x' }, ['name'])).toEqual({ input: { name: 'x' } });
  expect(typed(properties, { name: 'x', laps: ' ' }, [])).toEqual({
    wrong: { laps: 'Enter a whole number.' },
  });
  expect(typed(properties, { laps: '1.5', more: '{' }, ['name'])).toEqual({
    wrong: { name: 'This is required.', laps: 'Enter a whole number.', more: 'This is no JSON.' },
  });
});

it('takes names of objects in JavaScript for names', () => {
  expect(typed({ constructor: { type: 'string' } }, { constructor: 'x' })).toEqual({
    input: { constructor: 'x' },
  });
});

it('begins with the default of the contract', () => {
  expect(typed({ laps: { type: 'integer', default: 4 } }, {})).toEqual({ input: { laps: 4 } });
  const choices = {
    laps: { enum: [1, 2, 3], default: 2 },
    gait: { enum: ['trot', 'walk'], default: 'walk' },
  };
  expect(typed(choices, {})).toEqual({ input: { laps: 2, gait: 'walk' } });
  expect(typed({ laps: { enum: [1, 2], default: 7 } }, {}, [])).toEqual({ input: {} });
});

it('finds the field that an error is about', () => {
  expect([fieldAt('/input/a~1b/c'), fieldAt('/input'), fieldAt('#path/x')]).toEqual([
    'a/b',
    undefined,
    undefined,
  ]);
});
