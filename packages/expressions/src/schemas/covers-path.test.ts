import type { JsonObject } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { compileContract } from './compile-contract.js';
import { coverWork, firstMissingStep, undeclaredStep } from './covers-path.js';

function covers(schema: JsonObject, path: string): boolean {
  const compiled = compileContract(schema);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return undeclaredStep(compiled.contract, path) === undefined;
}

const short = {
  winner: 'string',
  race: { horses: 'string[]', extra: 'object?' },
  free: 'json',
  list: 'array',
};

it.each([
  ['winner', true],
  ['race.horses', true],
  ['race.horses.0', true],
  ['race.extra.anything.at.all', true],
  ['free', true],
  ['free.x.y', true],
  ['list.0.id', true],
  ['looser', false],
  ['winner.name', false],
  ['race.cars', false],
  ['race.horses.id', false],
  ['', false],
])('short map: %s', (path, expected) => {
  expect(covers(short, path)).toBe(expected);
});

const schema = {
  type: 'object',
  properties: {
    entries: { type: 'array', items: { $ref: '#/$defs/entry' } },
    pair: { prefixItems: [{ type: 'string' }, { properties: { id: {} } }], items: false },
    open: { type: 'object', properties: { a: {} }, additionalProperties: true },
    typed: { type: 'object', additionalProperties: { type: 'string' } },
    closed: { type: 'object', properties: { a: {} } },
  },
  patternProperties: { '^x-': { type: 'string' } },
  anyOf: [{ properties: { b: { type: 'string' } } }, { properties: { c: { properties: { d: {} } } } }],
  $defs: {
    entry: { type: 'object', properties: { id: { type: 'string' }, parent: { $ref: '#/$defs/entry' } } },
  },
};

it.each([
  ['entries', true],
  ['entries.id', true],
  ['entries.0.id', true],
  ['entries.parent.parent.parent.id', true],
  ['entries.name', false],
  ['pair.1.id', true],
  ['pair.id', true],
  ['open.anything', true],
  ['typed.anything', true],
  ['typed.anything.deeper', false],
  ['closed.a', true],
  ['closed.b', false],
  ['x-id', true],
  ['b', true],
  ['c.d', true],
  ['c.e', false],
  ['e', false],
])('JSON Schema: %s', (path, expected) => {
  expect(covers(schema, path)).toBe(expected);
});

it.each<[JsonObject, string[], { index: number; declared: string[] } | undefined]>([
  [short, ['winner'], undefined],
  [short, ['winer'], { index: 0, declared: ['winner', 'race', 'free', 'list'] }],
  [short, ['race', 'cars'], { index: 1, declared: ['horses', 'extra'] }],
  [short, ['race', 'extra', 'any'], undefined],
  [short, ['race', 'horses', 'length'], { index: 2, declared: [] }],
  [short, ['winner', 'name'], { index: 1, declared: [] }],
  [schema, ['closed', 'b'], undefined],
  [schema, ['entries', '0', 'name'], undefined],
  [schema, ['e'], { index: 0, declared: ['entries', 'pair', 'open', 'typed', 'closed', 'c', 'b'] }],
  [{ type: 'object', properties: { 'a.b': { type: 'string' } } }, ['a.b'], undefined],
  [
    { $schema: 'https://json-schema.org/draft/2020-12/schema', allOf: [{ properties: { a: {} } }] },
    ['b'],
    { index: 0, declared: ['a'] },
  ],
  [{ type: 'object', properties: {}, additionalProperties: true }, ['b'], undefined],
])('the first missing step of %j under %j', (source, steps, expected) => {
  const compiled = compileContract(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  expect(firstMissingStep(compiled.contract, steps)).toEqual(expected);
});

it('checks as many paths as the work allows, and takes the rest as covered', () => {
  const compiled = compileContract({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    anyOf: Array.from({ length: 490 }, () => ({ properties: { a: { $ref: '#' } } })),
    properties: { a: { $ref: '#' } },
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { contract } = compiled;
  const path = `${'a.'.repeat(120)}b`;
  expect(undeclaredStep(contract, 'b')).toMatchObject({ index: 0 });
  const work = coverWork();
  for (let n = 0; work.left > 0; n += 1) {
    undeclaredStep(contract, path, work);
    expect(n).toBeLessThan(10);
  }
  expect([undeclaredStep(contract, 'b', work), firstMissingStep(contract, ['b'], work)]).toEqual([
    undefined,
    undefined,
  ]);
});
