import { compileContract, toJsonSchema } from '@orrery/expressions';
import { expect, it } from 'vitest';
import { exampleOf } from './example-input.js';

it.each([
  [
    { id: 'string', laps: 'integer', note: 'string?' },
    { id: 'text', laps: 1 },
  ],
  [
    { car: { speed: 'float', tags: 'string[]' }, on: 'boolean' },
    { car: { speed: 1, tags: [] }, on: true },
  ],
  [
    {
      type: 'object',
      required: ['a', 'b', 'c', 'd', 'e'],
      properties: {
        a: { enum: ['x', 'y'] },
        b: { type: 'string', minLength: 6 },
        c: { type: 'number', exclusiveMinimum: 7.5 },
        d: { type: 'array', minItems: 2, items: { type: 'integer', maximum: -3 } },
        e: { type: ['null', 'string'] },
      },
    },
    { a: 'x', b: 'text--', c: 8, d: [-3, -3], e: null },
  ],
])('fits the contract %j', (contract, expected) => {
  const compiled = compileContract(contract as never);
  if (!compiled.ok) throw new Error('no contract');
  const example = exampleOf(toJsonSchema(compiled.contract));
  expect(example).toEqual(expected);
});

it('ends, whatever it is given', () => {
  for (const schema of [undefined, true, null, {}, { type: 'object', required: ['a'] }])
    expect(exampleOf(schema as never)).toBeTypeOf('object');
  let deep: object = { type: 'string' };
  for (let n = 0; n < 100; n += 1) deep = { type: 'object', required: ['a'], properties: { a: deep } };
  expect(JSON.stringify(exampleOf(deep as never)).length).toBeLessThan(100);
});
