import type { JsonObject, JsonValue, VersionDefinition } from '@orrery/contracts';
import { checkAgainst, compileContract } from '@orrery/expressions';
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../execution/execution.test-support.js';
import { entities, raceDefinition } from './race.test-support.js';
import { type StrictForm, strictFormOf } from './strict-form.js';

function formOf(definition: VersionDefinition): StrictForm {
  const form = strictFormOf(definition);
  if (form === null) throw new Error('no strict form');
  return form;
}

/** The part of a value at a path of keys. */
const at = (value: JsonValue, path: string): JsonValue =>
  path.split('/').reduce<JsonValue>((part, key) => (part as JsonObject)[key] ?? null, value);
const HORSE = 'properties/stateChanges/properties/horse/items';

/** Problems of an answer by the schema that the server is asked to keep to. */
function problemsOf({ schema }: StrictForm, answer: JsonValue): string[] {
  const compiled = compileContract(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return checkAgainst(compiled.contract, answer).map(({ pointer }) => pointer);
}

const unchanged = { wins: null, name: null, gait: null, speed: null, tired: null, gear: null };
const horse = (instanceId: string, state: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  instanceId,
  state: { ...unchanged, ...state },
  unset: [],
  ...more,
});
const answerOf = (...horses: JsonObject[]): JsonObject => ({
  stateChanges: { horse: horses },
  result: { winner: 'HORSE_1', time: null },
});
const read = (definition: VersionDefinition, answer: JsonObject) => formOf(definition).read(answer, entities);

/** Every object of a schema, wherever it stands. */
function objectsIn(schema: JsonValue): JsonObject[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const below = Object.values(schema).flatMap(objectsIn);
  return !Array.isArray(schema) && schema['type'] === 'object' ? [schema, ...below] : below;
}

describe('the schema', () => {
  it('requires every property of its objects, and closes them', () => {
    for (const object of objectsIn(formOf(raceDefinition()).schema)) {
      expect(object['additionalProperties']).toBe(false);
      expect(object['required']).toEqual(Object.keys(object['properties'] as JsonObject));
    }
  });

  it('asks for what the event may change, with bounds and lists, without patterns', () => {
    const form = formOf(raceDefinition());
    const item = at(form.schema, HORSE);
    expect(at(item, 'properties/state/properties')).toEqual({
      wins: { type: ['integer', 'null'], minimum: 0, maximum: 100 },
      name: { type: ['string', 'null'] },
      gait: { type: ['string', 'null'], enum: ['trot', 'gallop', null] },
      speed: { type: ['number', 'null'] },
      tired: { type: ['boolean', 'null'] },
      gear: { type: ['string', 'null'], description: 'JSON text' },
    });
    expect(at(item, 'properties/unset/items/enum')).toEqual(['name', 'gait', 'speed', 'tired', 'gear']);
    expect(at(item, 'properties')).not.toHaveProperty('delete');
    expect(at(form.schema, 'properties/stateChanges/properties')).not.toHaveProperty('course');
  });

  it('takes a whole answer, and refuses what it did not ask for', () => {
    const form = formOf(raceDefinition());
    expect(problemsOf(form, answerOf(horse('HORSE_1', { wins: 4, gait: 'trot' })))).toEqual([]);
    expect(problemsOf(form, answerOf(horse('HORSE_1', { wins: 101 })))).toEqual([
      '/stateChanges/horse/0/state/wins',
    ]);
    expect(problemsOf(form, answerOf(horse('HORSE_1', { winz: 4 })))).not.toEqual([]);
    expect(problemsOf(form, answerOf(horse('HORSE_1', {}, { delete: true })))).not.toEqual([]);
    expect(problemsOf(form, { stateChanges: { course: [] }, result: {} })).not.toEqual([]);
  });

  it('leaves out what the guards deny, and asks for deletion where they allow it', () => {
    const form = formOf(raceDefinition({ guards: { deny: ['speed'], delete: true } }));
    const properties = at(form.schema, `${HORSE}/properties`);
    expect(at(properties, 'state/properties')).not.toHaveProperty('speed');
    expect(at(properties, 'unset/items/enum')).not.toContain('speed');
    expect(at(properties, 'delete')).toEqual({ type: 'boolean' });
  });

  it('without a mode map asks for all schemas of the version; with an empty one for the result alone', () => {
    const keys = (definition: VersionDefinition) =>
      Object.keys(at(formOf(definition).schema, 'properties/stateChanges/properties') as JsonObject);
    expect(keys(raceDefinition({ stateChanges: null }))).toEqual(['course', 'horse']);
    expect(formOf(raceDefinition({ stateChanges: {} })).schema['required']).toEqual(['result']);
  });

  it('is not made where it would be larger than strict servers take', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`a${at}`, 'integer' as const]),
    );
    const names = Array.from({ length: 6 }, (_, at) => `schema${at}`);
    const schemas = Object.fromEntries(names.map((name) => [name, attributes]));
    expect(strictFormOf(definitionOf({ schemas }))).toBeNull();
    const long = Array.from({ length: 101 }, (_, at) => `v${at}`);
    const few = definitionOf({ schemas: { horse: { gait: ['string', { constraints: { enum: long } }] } } });
    expect(at(formOf(few).schema, `${HORSE}/properties/state/properties/gait`)).toEqual({
      type: ['string', 'null'],
    });
  });
});

describe('an answer', () => {
  it('is read as a mutation: null is unchanged, unset removes', () => {
    const answer = answerOf(
      horse('HORSE_1', { wins: 4 }, { unset: ['name'] }),
      horse('NEW:1', { tired: false }),
    );
    expect(read(raceDefinition(), answer)).toEqual({
      stateChanges: { 'horse:HORSE_1': { wins: 4, name: null }, 'horse:NEW:1': { tired: false } },
      result: { winner: 'HORSE_1' },
    });
  });

  it('of a full change repeats what it leaves unchanged', () => {
    const answer = answerOf(horse('HORSE_1', { wins: 4 }, { unset: ['gear'] }), horse('NEW', { wins: 0 }));
    expect(read(raceDefinition({ stateChanges: { horse: 'full' } }), answer)).toMatchObject({
      stateChanges: { 'horse:HORSE_1': { wins: 4, name: 'Ada' }, 'horse:NEW': { wins: 0 } },
    });
  });

  it('has the values of type json as JSON text', () => {
    const gear = (text: JsonValue) => {
      return at(read(raceDefinition(), answerOf(horse('H', { gear: text }))), 'stateChanges/horse:H/gear');
    };
    expect(gear('["saddle", {"$ref": 1}]')).toEqual(['saddle', { $ref: 1 }]);
    expect(gear('"bridle"')).toBe('bridle');
    expect(gear(['as it is meant'])).toEqual(['as it is meant']);
    expect(() => gear('bridle')).toThrow('/stateChanges/horse/0/state/gear: the text is not JSON');
    expect(() => gear('{"__proto__": 1}')).toThrow('/gear/__proto__');
    expect(() => gear('1e400')).toThrow('too large');
    expect(() => gear(`${'['.repeat(5000)}${']'.repeat(5000)}`)).toThrow('32 levels');
  });

  it('deletes where "delete" is true', () => {
    const definition = raceDefinition({ guards: { delete: true } });
    expect(read(definition, answerOf(horse('HORSE_2', { wins: 9 }, { delete: true })))).toMatchObject({
      stateChanges: { 'horse:HORSE_2': { $delete: true } },
    });
    expect(read(definition, answerOf(horse('HORSE_2', { wins: 9 }, { delete: false })))).toMatchObject({
      stateChanges: { 'horse:HORSE_2': { wins: 9 } },
    });
  });

  it.each<[string, JsonObject, string]>([
    ['another schema', { stateChanges: { course: [] } }, '/stateChanges/course: this event may not change'],
    ['no list', { stateChanges: { horse: 'all' } }, '/stateChanges/horse: it must be a list'],
    [
      'no instanceId',
      { stateChanges: { horse: [{ state: {} }] } },
      '/stateChanges/horse/0: it must be an object',
    ],
    [
      'no state',
      { stateChanges: { horse: [{ instanceId: 'H' }] } },
      '/stateChanges/horse/0/state: it must be',
    ],
    [
      'another member',
      { stateChanges: { horse: [{ instanceId: 'H', state: {}, why: '' }] } },
      '/horse/0/why',
    ],
    [
      'unset is no list',
      { stateChanges: { horse: [{ instanceId: 'H', state: {}, unset: 'name' }] } },
      '/0/unset',
    ],
    ['the same instance twice', answerOf(horse('H'), horse('H')), '"horse:H" is changed twice'],
  ])('cannot be read: %s', (_what, answer, message) => {
    expect(() => read(raceDefinition(), answer)).toThrow(message);
  });
});

describe('the result', () => {
  const resultOf = (outputSchema: JsonObject | null) => {
    const form = formOf(raceDefinition({ outputSchema, stateChanges: {} }));
    return {
      schema: at(form.schema, 'properties/result'),
      read: (result: JsonValue) => form.read({ result }, entities)['result'],
    };
  };

  it('of a short map: what is optional may be null, and is absent then', () => {
    const { schema, read } = resultOf({
      id: 'string',
      laps: 'integer?',
      tags: 'string[]',
      car: { speed: 'float', note: 'any?' },
    });
    expect(schema).toMatchObject({
      properties: {
        id: { type: 'string' },
        laps: { type: ['integer', 'null'] },
        tags: { type: 'array', items: { type: 'string' } },
        car: {
          properties: {
            speed: { type: 'number' },
            note: { type: ['string', 'null'], description: 'JSON text' },
          },
        },
      },
    });
    expect(read({ id: 'R', laps: null, tags: ['a'], car: { speed: 1.5, note: null } })).toEqual({
      id: 'R',
      tags: ['a'],
      car: { speed: 1.5 },
    });
    expect(read({ id: null, laps: 3, tags: [], car: { speed: 1, note: '{"a": [1]}' } })).toEqual({
      id: null,
      laps: 3,
      tags: [],
      car: { speed: 1, note: { a: [1] } },
    });
  });

  it('of a JSON Schema that no closed schema can say is JSON text', () => {
    const { schema, read } = resultOf({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: [{ required: ['a'] }],
      type: 'object',
      properties: { a: {} },
    });
    expect(schema).toEqual({ type: 'string', description: 'JSON text' });
    expect(read('{"a": 1}')).toEqual({ a: 1 });
    expect(read({ a: 1 })).toEqual({ a: 1 });
  });

  it('without a contract is the text of any object, or null', () => {
    const { schema, read } = resultOf(null);
    expect(schema).toEqual({ type: ['string', 'null'], description: 'JSON text' });
    expect(read('{"winner": "H"}')).toEqual({ winner: 'H' });
    expect(read(null)).toBeNull();
  });
});
