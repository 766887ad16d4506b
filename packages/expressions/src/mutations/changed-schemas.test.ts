import { expect, it } from 'vitest';
import { changedSchemas } from './changed-schemas.js';

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
