import { expect, it } from 'vitest';
import { contractRows } from './versions.js';

const listed = (contract: Parameters<typeof contractRows>[0]) =>
  contractRows(contract)?.map(({ path, type, isRequired }) => `${path}: ${type}${isRequired ? '' : '?'}`);

it('lists the values of a short map', () => {
  expect(listed({ raceId: 'string', laps: 'integer?', tags: 'string[]', car: { speed: 'float' } })).toEqual([
    'raceId: text',
    'laps: whole number?',
    'tags: list of: text',
    'car: object',
    'car.speed: number',
  ]);
});

it('lists those of a JSON Schema, with what it says about them', () => {
  const contract = {
    type: 'object',
    required: ['weather'],
    properties: {
      weather: { enum: ['rain', 'sun'], description: 'Of the day' },
      cars: {
        type: 'array',
        items: { type: 'object', properties: { speed: { type: 'number', minimum: 1 } } },
      },
    },
  };
  expect(listed(contract)).toEqual([
    'weather: one of "rain", "sun"',
    'cars: list of: object?',
    'cars.speed: number?',
  ]);
  expect(contractRows(contract)?.map(({ note }) => note)).toEqual(['Of the day', '', 'at least 1']);
});

it('lists nothing where a contract is no list of values', () => {
  expect(
    contractRows({ $schema: 'https://json-schema.org/draft/2020-12/schema', anyOf: [] }),
  ).toBeUndefined();
});
