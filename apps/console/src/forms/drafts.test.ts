import { describe, expect, it } from 'vitest';
import { emptyObject, type ObjectDraft, objectDraft, readDraft } from './drafts.js';
import type { ObjectField } from './form-model.js';
import { formOf } from './form-model.js';

function rootOf(schema: Parameters<typeof formOf>[0]): ObjectField {
  const form = formOf(schema);
  if (form.kind !== 'form') throw new Error(form.reason);
  return form.root;
}
const race = rootOf({
  type: 'object',
  required: ['raceId', 'laps', 'night', 'car'],
  properties: {
    raceId: { type: 'string' },
    laps: { type: 'integer', default: 3 },
    odds: { type: 'number' },
    night: { type: 'boolean' },
    weather: { enum: ['rain', 'sun'] },
    tags: { type: 'array', items: { type: 'string' } },
    car: { type: 'object', required: ['speed'], properties: { speed: { type: 'number' } } },
    extra: true,
  },
});
const filled: ObjectDraft = {
  raceId: 'R1',
  laps: '5',
  odds: ' 1.5 ',
  night: true,
  weather: '"sun"',
  tags: ['a', ''],
  car: { speed: '1e3' },
  extra: '{"a":[null]}',
};
const input = {
  raceId: 'R1',
  laps: 5,
  odds: 1.5,
  night: true,
  weather: 'sun',
  tags: ['a', ''],
  car: { speed: 1000 },
  extra: { a: [null] },
};

it('starts with defaults, and with nothing where a value may be absent', () => {
  expect(emptyObject(race)).toEqual({
    raceId: undefined,
    laps: '3',
    odds: undefined,
    night: false,
    weather: undefined,
    tags: undefined,
    car: { speed: '' },
    extra: undefined,
  });
});

it('starts with the only value of a constant', () => {
  const root = rootOf({ type: 'object', required: ['v'], properties: { v: { const: 1 } } });
  expect(readDraft(root, emptyObject(root))).toEqual({ value: { v: 1 }, problems: new Map() });
});

describe('reading', () => {
  it('makes values of the texts', () => {
    expect(readDraft(race, filled)).toEqual({ value: input, problems: new Map() });
  });

  it('leaves out what is optional and empty, and says where a required text is empty', () => {
    const draft = { ...emptyObject(race), odds: '', weather: '', extra: '', car: { speed: '1' } };
    expect(readDraft(race, draft)).toEqual({
      value: { laps: 3, night: false, car: { speed: 1 } },
      problems: new Map([['/raceId', 'Give a value.']]),
    });
  });

  it.each([[['note']], [[]]])('takes an empty text where one is the default, required: %j', (required) => {
    const root = rootOf({
      type: 'object',
      required,
      properties: { note: { type: 'string', default: '' } },
    });
    expect(readDraft(root, emptyObject(root))).toEqual({ value: { note: '' }, problems: new Map() });
  });

  it('says at its place what is missing or no value', () => {
    const draft = { ...filled, laps: '1.5', odds: 'many', car: { speed: '' }, extra: '{' };
    const { problems } = readDraft(race, draft);
    expect([...problems.keys()]).toEqual(['/laps', '/odds', '/car/speed', '/extra']);
    expect(problems.get('/laps')).toBe('Give a whole number.');
    expect(problems.get('/extra')).toMatch(/^This is not JSON/);
  });

  it('says of all fields at once what is missing, no value, or outside the bounds that its hint names', () => {
    const root = rootOf({
      type: 'object',
      required: ['price', 'amount', 'odds', 'name', 'tags', 'good'],
      properties: {
        price: { type: 'integer' },
        amount: { type: 'integer', minimum: 1, maximum: 20 },
        odds: { type: 'number', exclusiveMinimum: 0 },
        name: { type: 'string', minLength: 2, maxLength: 3 },
        tags: { type: 'array', items: { type: 'string', maxLength: 1 }, minItems: 2 },
        good: { type: 'string' },
      },
    });
    const draft = { price: '1.5', amount: '99', odds: '0', name: '🐎', tags: ['ab'], good: undefined };
    expect([...readDraft(root, draft).problems]).toEqual([
      ['/price', 'Give a whole number.'],
      ['/amount', 'Give at most 20.'],
      ['/odds', 'Give more than 0.'],
      ['/name', 'Give at least 2 characters.'],
      ['/tags', 'Give at least 2 items.'],
      ['/tags/0', 'Give at most 1 characters.'],
      ['/good', 'Give a value.'],
    ]);
    const good = { price: '1', amount: '20', odds: '0.1', name: '🐎🐎🐎', tags: ['a', ''], good: 'x' };
    expect(readDraft(root, good).problems.size).toBe(0);
  });

  it('points into lists and at names with a slash', () => {
    const root = rootOf({ 'a/b~c': 'integer[]' });
    expect([...readDraft(root, { 'a/b~c': ['1', 'x'] }).problems.keys()]).toEqual(['/a~1b~0c/1']);
  });

  it('takes no integer that a double cannot hold', () => {
    const root = rootOf({ id: 'integer' });
    expect(readDraft(root, { id: '9007199254740993' }).problems.get('/id')).toBe('Give a whole number.');
  });
});

describe('a form of a given input', () => {
  it('reads as the same input', () => {
    const draft = objectDraft(race, input);
    expect(draft && readDraft(race, draft)).toEqual({ value: input, problems: new Map() });
  });

  it.each<[Parameters<typeof formOf>[0], object]>([
    [
      { wins: 'integer', note: 'string?' },
      { wins: 1, note: '' },
    ],
    [{ wins: 'integer', note: 'string?' }, { wins: 1 }],
    [
      { note: 'string', tags: 'string[]' },
      { note: '', tags: [''] },
    ],
    [
      { any: 'any', where: { lane: 'string?' } },
      { any: '', where: { lane: '' } },
    ],
    [{ type: 'object', properties: { gait: { enum: ['', 'trot'] } } }, { gait: '' }],
  ])('keeps empty texts, and what is not there: of %j %j', (schema, given) => {
    const root = rootOf(schema);
    const draft = objectDraft(root, given);
    expect(draft && readDraft(root, draft)).toEqual({ value: given, problems: new Map() });
  });

  it.each([
    ['a member that the contract does not name', { ...input, other: 1 }],
    ['a value of another type', { ...input, laps: 'five' }],
    ['a value that is none of the choices', { ...input, weather: 'fog' }],
    ['a wrong item', { ...input, tags: ['a', 1] }],
    ['no object', []],
  ])('does not exist for %s', (_, value) => {
    expect(objectDraft(race, value)).toBeUndefined();
  });
});
