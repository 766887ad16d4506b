import { describe, expect, it } from 'vitest';
import { changeableSchemas, resultSchema } from './changeable-schemas.js';
import { raceDefinition } from './race.test-support.js';
import { attributeShape, closedObject, loadedState, orNull, resultShape } from './strict-form.js';

describe('the shape of an answer', () => {
  it('is closed, and every property required', () => {
    expect(closedObject({ a: {} })).toEqual({
      type: 'object',
      properties: { a: {} },
      required: ['a'],
      additionalProperties: false,
    });
  });

  it('lets a value be null', () => {
    const shape = orNull({ schema: { type: 'string', enum: ['a'] }, read: (value) => value });
    expect(shape.schema).toEqual({ type: ['string', 'null'], enum: ['a', null] });
    expect(shape.read(null, '')).toBeNull();
  });

  it('asks for JSON as text', () => {
    const shape = attributeShape({ name: 'gear', type: 'json', constraints: null, defaultValue: null });
    expect(shape.read('{"a":1}', '')).toEqual({ a: 1 });
    expect(() => shape.read('{', '/gear')).toThrow('/gear');
    const bounded = attributeShape({
      name: 'n',
      type: 'integer',
      constraints: { min: 1 },
      defaultValue: null,
    });
    expect(bounded.schema).toEqual({ type: 'integer', minimum: 1 });
  });

  it('reads what a result may leave out as absent where it is null', () => {
    const shape = resultShape(resultSchema(raceDefinition()));
    expect(shape.read({ winner: 'H1', time: null }, '')).toEqual({ winner: 'H1' });
    expect(resultShape(null).read(null, '')).toBeNull();
  });
});

describe('what an event may change', () => {
  it('shows the schemas that an event may change', () => {
    expect(changeableSchemas(raceDefinition()).map(({ name, mode }) => [name, mode])).toEqual([
      ['horse', 'partial'],
    ]);
    expect(changeableSchemas(raceDefinition({ stateChanges: null })).map(({ name }) => name)).toEqual([
      'course',
      'horse',
    ]);
    expect(resultSchema(raceDefinition({ outputSchema: null }))).toBeNull();
  });

  it('finds a state by its own keys alone', () => {
    const entities = { horse: { H1: { wins: 1 } } };
    expect(loadedState(entities, 'horse', 'H1')).toEqual({ wins: 1 });
    expect(loadedState(entities, 'horse', 'constructor')).toBeUndefined();
  });
});
