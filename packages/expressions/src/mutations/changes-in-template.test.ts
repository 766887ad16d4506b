import { describe, expect, it } from 'vitest';
import { changedSchemas, findBrokenChanges } from './changes-in-template.js';

it.each([
  [{}, []],
  [{ 'horse:H1': {}, 'horse:{{ input.id }}': {}, 'stable:a:b': {} }, ['horse', 'stable']],
  [{ stateChanges: { 'horse:H1': {} }, result: { 'fence:F1': 1 } }, ['horse']],
  [{ stateChanges: '{{ input.changes }}' }, []],
  [{ '{{ input.key }}': {}, '{{ input.a ? "b:c" : "d" }}': {}, 'ho{{ input.rest }}:H1': {} }, []],
  [{ 'caf\u0065\u0301:C1': {} }, ['caf\u00e9']],
])('changedSchemas of %j are %j', (template, schemas) => {
  expect(changedSchemas(template)).toEqual(schemas);
});

const found = (template: Parameters<typeof findBrokenChanges>[0]) =>
  findBrokenChanges(template).map(({ pointer, code }) => `${pointer} ${code}`);

describe('findBrokenChanges', () => {
  it.each([
    {},
    { result: { winner: 'H1' } },
    { stateChanges: null },
    { stateChanges: '{{ input.changes }}' },
    { stateChanges: { 'horse:a:b': { wins: 1 } } },
    { '{{ input.key }}': '{{ input.change }}', 'horse:H1': { $delete: true } },
  ])('leaves %j to the run', (template) => {
    expect(found(template)).toEqual([]);
  });

  it('finds keys that name no instance', () => {
    expect(found({ horse: { wins: 1 }, 'horse:': {}, ':H1': {} })).toEqual([
      '/horse invalid_change_key',
      '/horse: invalid_change_key',
      '/:H1 invalid_change_key',
    ]);
    expect(found({ stateChanges: { horse: {} }, result: {} })).toEqual([
      '/stateChanges/horse invalid_change_key',
    ]);
  });

  it('finds a key beside "stateChanges", which makes it a change itself', () => {
    expect(found({ stateChanges: {}, results: {} })).toEqual([
      '/stateChanges invalid_change_key',
      '/results invalid_change_key',
    ]);
  });

  it('finds changes that are no objects', () => {
    expect(found({ 'horse:H1': 'fast' })).toEqual(['/horse:H1 invalid_mutation']);
    expect(found({ stateChanges: [] })).toEqual(['/stateChanges invalid_mutation']);
  });
});
