import type { JsonObject, ReadEntity } from '@orrery/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { executionOf, viewOf } from './execution.test-support.js';
import { inRequest, readEntities, selectEntities } from './read-entities.js';

const states = {
  horse: { H1: { wins: 1 }, 'horse:H1': { wins: 2 }, '7': { wins: 7 } },
  race: { R1: { laps: 3 } },
};

/** What templates see of the instances that an input selects. */
function loaded(items: ReadEntity[], input: JsonObject): unknown {
  const { definition } = executionOf({ schemas: { horse: {}, race: {} }, readEntities: items });
  const found = readEntities(definition, selectEntities(items, input), viewOf(states));
  return 'read' in found ? JSON.parse(JSON.stringify(found.read.entities)) : found;
}
const horses = (...filter: string[]): ReadEntity[] => [{ schema: 'horse', filter }];

/** What paths select in an input, in their order. */
function selected(input: JsonObject, ...filter: string[]): unknown {
  const found = selectEntities(horses(...filter), input).direct.get('horse');
  return found === undefined || found === 'all' ? found : [...found];
}

test('rule 1: a path is read from the input and its value used as instanceId', () => {
  expect(loaded(horses('winner'), { winner: 'H1' })).toEqual({ horse: { H1: { wins: 1 } } });
});

test('rule 2: paths use dots', () => {
  expect(loaded(horses('race.winner.id'), { race: { winner: { id: 'H1' } } })).toEqual({
    horse: { H1: { wins: 1 } },
  });
});

test('rule 3: several paths combine with OR', () => {
  expect(loaded(horses('a', 'b'), { a: 'H1', b: 7 })).toEqual({
    horse: { H1: { wins: 1 }, '7': { wins: 7 } },
  });
});

test('rule 4: the value is matched exactly, a schema prefix within it included', () => {
  expect(loaded(horses('id'), { id: 'horse:H1' })).toEqual({ horse: { 'horse:H1': { wins: 2 } } });
  expect(loaded(horses('id'), { id: 'h1' })).toEqual({ horse: {} });
});

test('rule 5: without a filter all instances are loaded', () => {
  expect(loaded([{ schema: 'horse' }], {})).toEqual({ horse: states.horse });
});

test('rule 6: several items, each with its schema and filter', () => {
  const items = [...horses('id'), { schema: 'race' }, ...horses('other')];
  expect(loaded(items, { id: 'H1', other: '7' })).toEqual({
    horse: { H1: { wins: 1 }, '7': { wins: 7 } },
    race: states.race,
  });
});

test('an absent or null path selects nothing, never everything', () => {
  expect(loaded(horses('id'), {})).toEqual({ horse: {} });
  expect(loaded(horses('id.deep'), { id: null })).toEqual({ horse: {} });
});

test('an object selects nothing that could be meant', () => {
  expect(() => loaded(horses('id'), { id: { x: 1 } })).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      errors: [expect.objectContaining({ pointer: '/input/id' })],
    }),
  );
});

test('a problem of the input is told by its path in the request', () => {
  const problem = { pointer: '/amount', code: 'type', message: 'Must be a number.' };
  expect(inRequest(problem)).toEqual({ ...problem, pointer: '/input/amount' });
});

test('an item without a filter wins over one with', () => {
  expect(loaded([...horses('id'), { schema: 'horse' }], { id: 'H1' })).toEqual({ horse: states.horse });
});

test('an instance may be called like a property of objects', () => {
  const { definition } = executionOf({ readEntities: horses('id') });
  const view = viewOf({ horse: { constructor: { x: 1 }, ['__proto__']: { x: 2 } } });
  const found = readEntities(
    definition,
    selectEntities(horses('id'), { id: ['constructor', 'toString'] }),
    view,
  );
  expect('read' in found && Object.keys(found.read.entities['horse'] ?? {})).toEqual(['constructor']);
});

test('a schema that is known to have too many instances is refused, not loaded', () => {
  const view = {
    get: () => undefined,
    all: () => undefined,
    tooMany: () => true,
    isTooLarge: () => false,
    recent: { find: () => undefined },
  };
  const { definition } = executionOf({ readEntities: [{ schema: 'horse' }] });
  const selection = selectEntities(definition.definition.readEntities, {});
  expect(() => readEntities(definition, selection, view)).toThrow(
    expect.objectContaining({ code: 'read_set_too_large' }),
  );
});

test.each([
  ['winner', ['horse:H1']],
  ['race.id', ['7']],
  ['race.half', ['0.5']],
  ['race.horses', ['H1', '2', 'H3']],
  ['race.horses.0', ['H1']],
  ['decomposed', ['Zo\u00eb']],
  ['race.none', []],
  ['race.none.deeper', []],
  ['missing', []],
  ['missing.deeper', []],
  ['winner.deeper', []],
  ['entries.id', ['A', 'B']],
  ['entries.1.id', ['B']],
  ['constructor', []],
  ['winner.length', []],
  ['', []],
])('%s selects %j', (path, ids) => {
  const input = {
    winner: 'horse:H1',
    race: { id: 7, half: 0.5, horses: ['H1', 2, null, ['H3']], none: null },
    decomposed: 'Zoe\u0308',
    entries: [{ id: 'A', jockey: { name: 'x' } }, { id: 'B' }, {}],
  };
  expect(selected(input, path)).toEqual(ids);
});

test('the paths of an execution go through a bounded number of values', () => {
  const input = { list: Array.from({ length: 9_000 }, () => ({})) };
  const paths = Array.from({ length: 100 }, (_, i) => `list.x${i}`);
  expect(selected(input, ...paths.slice(0, 10))).toEqual([]);
  expect(() => selected(input, ...paths)).toThrow('go through too many values');
});

test('the paths of an execution normalize a bounded number of characters', () => {
  const input = { list: Array.from({ length: 300 }, () => 'e\u0301'.repeat(500)) };
  expect(selected(input, 'list')).toHaveLength(1);
  expect(() => selected(input, 'list', 'list')).toThrow('go through too many values');
});

test('a path that selects too many is refused, the same one again counted too', () => {
  const ids = Array.from({ length: 10_001 }, () => 'H1');
  expect(selected({ ids: ids.slice(1) }, 'ids')).toEqual(['H1']);
  expect(() => selected({ ids }, 'ids')).toThrow('The filter path "ids" selects more than 10000 instances.');
});

test('any input selects texts, or is refused', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 4 }), fc.string(), (value, path) => {
      try {
        const ids = selected(JSON.parse(JSON.stringify(value)) as JsonObject, path) as unknown[];
        expect(ids.every((id) => typeof id === 'string')).toBe(true);
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_input' });
      }
    }),
  );
});
