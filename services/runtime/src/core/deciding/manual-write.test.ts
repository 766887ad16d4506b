import { DEFAULT_CONTENT_LIMITS, type JsonObject } from '@orrery/contracts';
import { compileSchema } from '@orrery/deciding';
import { schemaOf } from '@orrery/deciding/test-support';
import { expect, test } from 'vitest';
import { decideManualWrite } from './manual-write.js';

const horse = compileSchema(
  schemaOf('horse', { wins: ['integer', { defaultValue: 0, constraints: { required: true } }] }),
);
const write = (before: JsonObject | null, state: JsonObject | null) =>
  decideManualWrite(horse, 'H1', before && { state: before, revision: 4 }, state, DEFAULT_CONTENT_LIMITS);

test('creating fills in the defaults', () => {
  expect(write(null, { name: 'Bolt' })).toMatchObject([
    { op: 'create', set: { name: 'Bolt', wins: 0 }, revision: 1, state: { name: 'Bolt', wins: 0 } },
  ]);
});

test('replacing stores exactly what is sent, and journals what differs', () => {
  expect(write({ wins: 1, old: 1 }, { wins: 1, name: 'Bolt' })).toMatchObject([
    { op: 'update', set: { name: 'Bolt' }, unset: ['old'], revision: 5, state: { wins: 1, name: 'Bolt' } },
  ]);
  expect(write({ wins: 1 }, { wins: 1 })).toMatchObject([{ op: 'update', set: {}, unset: [], revision: 5 }]);
});

test('replacing fills in nothing, so what is required must be sent', () => {
  expect(() => write({ wins: 1 }, {})).toThrow(expect.objectContaining({ code: 'invalid_state' }));
});

/** The rule of docs/schemas.md, "Numbers". */
test('a float takes any finite number, an integer only those that are exact', () => {
  const numbers = compileSchema(schemaOf('horse', { f: 'float', j: 'json', i: 'integer' }));
  const create = (state: JsonObject) => decideManualWrite(numbers, 'H1', null, state, DEFAULT_CONTENT_LIMITS);
  expect(create({ f: 1e300, j: 2 ** 54 })).toMatchObject([{ state: { f: 1e300, j: 2 ** 54 } }]);
  expect(() => create({ i: 2 ** 53 })).toThrow(expect.objectContaining({ code: 'invalid_state' }));
});

test('deleting', () => {
  expect(write({ wins: 1 }, null)).toMatchObject([
    { op: 'delete', set: {}, unset: [], revision: 5, state: null },
  ]);
  expect(() => write(null, null)).toThrow(expect.objectContaining({ code: 'entity_instance_not_found' }));
});
