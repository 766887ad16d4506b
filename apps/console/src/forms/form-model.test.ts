import { describe, expect, it } from 'vitest';
import type { Field } from './form-model.js';
import { formOf } from './form-model.js';

function fieldsOf(schema: Parameters<typeof formOf>[0]): Record<string, Field & { isRequired: boolean }> {
  const form = formOf(schema);
  if (form.kind !== 'form') throw new Error(form.reason);
  return Object.fromEntries(
    form.root.members.map(({ name, isRequired, field }) => [name, { ...field, isRequired }]),
  );
}

/** The field of one member of a JSON Schema. */
const fieldOf = (member: object, more: object = {}) =>
  fieldsOf({ type: 'object', properties: { it: member }, ...more })['it'];

it('asks for JSON where an event takes any input', () => {
  expect(formOf(null)).toMatchObject({ kind: 'json' });
});

describe('a short map', () => {
  it('has a control for each of its types', () => {
    expect(
      fieldsOf({
        raceId: 'string',
        laps: 'integer?',
        speed: 'float',
        ratio: 'number',
        isNight: 'boolean',
        notes: 'json',
        more: 'any?',
        car: 'object',
        all: 'array',
      }),
    ).toEqual({
      raceId: { kind: 'text', isLong: false, isRequired: true },
      laps: { kind: 'number', isWhole: true, isRequired: false },
      speed: { kind: 'number', isWhole: false, isRequired: true },
      ratio: { kind: 'number', isWhole: false, isRequired: true },
      isNight: { kind: 'boolean', isRequired: true },
      notes: { kind: 'json', isRequired: true },
      more: { kind: 'json', isRequired: false },
      car: { kind: 'json', hint: 'an object', isRequired: true },
      all: { kind: 'json', hint: 'a list', isRequired: true },
    });
  });

  it('nests lists and maps', () => {
    expect(fieldsOf({ grid: 'integer[][]?', car: { speed: 'float', 'odd.name': 'string' } })).toEqual({
      grid: {
        kind: 'list',
        item: { kind: 'list', item: { kind: 'number', isWhole: true } },
        isRequired: false,
      },
      car: {
        kind: 'object',
        members: [
          { name: 'speed', isRequired: true, field: { kind: 'number', isWhole: false } },
          { name: 'odd.name', isRequired: true, field: { kind: 'text', isLong: false } },
        ],
        isRequired: true,
      },
    });
  });

  it('may have a field that is called type', () => {
    expect(fieldsOf({ type: 'string' })).toMatchObject({ type: { kind: 'text' } });
  });

  it('may be empty', () => {
    expect(formOf({})).toEqual({ kind: 'form', root: { kind: 'object', members: [] } });
  });
});

describe('a JSON Schema', () => {
  it('has required and optional members, defaults, titles and hints', () => {
    const fields = fieldsOf({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[A-Z]', title: 'Name' },
        story: { type: 'string', maxLength: 2000, description: 'As long as you like.' },
        laps: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
        odds: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 },
        night: { type: 'boolean', default: true },
      },
    });
    expect(fields).toEqual({
      name: {
        kind: 'text',
        title: 'Name',
        hint: '1 to 20 characters, matches ^[A-Z]',
        bounds: { least: 1, most: 20 },
        isLong: false,
        isRequired: true,
      },
      story: {
        kind: 'text',
        description: 'As long as you like.',
        hint: 'at most 2000 characters',
        bounds: { most: 2000 },
        isLong: true,
        isRequired: false,
      },
      laps: {
        kind: 'number',
        isWhole: true,
        hint: '1 to 9',
        bounds: { least: 1, most: 9 },
        initial: 3,
        isRequired: false,
      },
      odds: {
        kind: 'number',
        isWhole: false,
        hint: 'above 0, a multiple of 0.5',
        bounds: { above: 0 },
        isRequired: false,
      },
      night: { kind: 'boolean', initial: true, isRequired: false },
    });
  });

  it('offers the values of enum and const', () => {
    expect(fieldOf({ enum: ['rain', 'sun', null, 4] })).toMatchObject({
      kind: 'choice',
      options: ['rain', 'sun', null, 4],
    });
    expect(fieldOf({ const: 'v1' })).toMatchObject({ kind: 'choice', options: ['v1'] });
  });

  it('nests objects and lists', () => {
    const point = { type: 'object', required: ['x'], properties: { x: { type: 'number' } } };
    expect(fieldOf({ type: 'array', items: point, minItems: 1, uniqueItems: true })).toEqual({
      kind: 'list',
      hint: 'at least 1 items, each once',
      bounds: { least: 1 },
      item: {
        kind: 'object',
        members: [{ name: 'x', isRequired: true, field: { kind: 'number', isWhole: false } }],
      },
      isRequired: false,
    });
  });

  it.each(['#/$defs/id', '#id', '#/$defs/i%64'])('follows %s', (ref) => {
    const $defs = { id: { $anchor: 'id', type: 'string', title: 'Id' } };
    expect(fieldOf({ $ref: ref, description: 'Whose' }, { $defs })).toEqual({
      kind: 'text',
      title: 'Id',
      description: 'Whose',
      isLong: false,
      isRequired: false,
    });
  });

  it('takes JSON for what contains itself', () => {
    const tree = {
      type: 'object',
      properties: { value: { type: 'string' }, left: { $ref: '#/$defs/tree' } },
    };
    const field = fieldOf({ $ref: '#/$defs/tree' }, { $defs: { tree } });
    expect(field).toMatchObject({
      kind: 'object',
      members: [{ name: 'value' }, { name: 'left', field: { kind: 'json' } }],
    });
  });

  it('stops where references unfold without end', () => {
    const names = Array.from({ length: 30 }, (_, at) => `d${at}`);
    const $defs = Object.fromEntries(
      names.map((name, at) => {
        const next = { $ref: `#/$defs/d${at + 1}` };
        return [name, { type: 'object', properties: { a: next, b: next } }];
      }),
    );
    expect(fieldOf({ $ref: '#/$defs/d0' }, { $defs })?.kind).toBe('object');
  });

  it.each([
    ['a choice of schemas', { oneOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['several types', { type: ['string', 'null'] }],
    ['a map', { type: 'object', properties: {}, additionalProperties: { type: 'integer' } }],
    ['an object of any members', { type: 'object' }],
    ['a member that is required and not described', { type: 'object', properties: {}, required: ['a'] }],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['a list of anything', { type: 'array' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/gone' }],
    ['anything', true],
    ['a name of a prototype', { $ref: '#/constructor/prototype' }],
  ])('takes JSON for %s', (_, member) => {
    expect(fieldOf(member as object)?.kind).toBe('json');
  });

  it('asks for JSON as a whole where its root is a choice', () => {
    expect(formOf({ type: 'object', properties: {}, anyOf: [{ required: ['a'] }] })).toMatchObject({
      kind: 'json',
    });
  });
});
