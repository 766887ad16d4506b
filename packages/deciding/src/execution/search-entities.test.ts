import type { JsonObject, ReadEntity } from '@orrery/contracts';
import { expect, test } from 'vitest';
import { executionOf, viewOf } from './execution.test-support.js';
import { readEntities, selectEntities } from './read-entities.js';
import {
  compileSearch,
  isTooLargeToSearch,
  MAX_SEARCHED,
  searchEntities,
  searchWork,
  tooLargeToSearch,
  tooManySearched,
} from './search-entities.js';

const horse = {
  A: { speed: 12, injured: false },
  B: { speed: 15, injured: true },
  C: { speed: 14, injured: false },
  D: { speed: 14, injured: false },
  E: { injured: false },
};

function read(
  items: ReadEntity[],
  input: JsonObject = {},
  states: Record<string, Record<string, JsonObject>> = { horse },
) {
  const { definition } = executionOf({ schemas: { horse: {}, race: {} }, readEntities: items });
  return readEntities(definition, selectEntities(items, input), viewOf(states));
}

function found(items: ReadEntity[], input: JsonObject = {}): string {
  const outcome = read(items, input);
  return 'read' in outcome ? Object.keys(outcome.read.entities['horse'] as object).join(' ') : 'needs';
}
const search = (more: Partial<ReadEntity>): ReadEntity => ({ schema: 'horse', ...more });

test('the three fastest that are not injured, ties by id, what is missing last', () => {
  expect(found([search({ where: '!instance.injured', orderBy: 'speed desc', limit: 3 })])).toBe('C D A');
  expect(found([search({ where: '!instance.injured', orderBy: 'speed desc' })])).toBe('C D A E');
  expect(found([search({ limit: 2 })])).toBe('A B');
});

test('a condition sees the input', () => {
  const items = [search({ where: 'instance.speed >= input.least && id != input.not' })];
  expect(found(items, { least: 14, not: 'D' })).toBe('B C');
  expect(found(items, {})).toBe('');
});

test('a filter names among which is searched', () => {
  expect(
    found([search({ filter: ['ids'], orderBy: 'speed desc', limit: 1 })], { ids: ['A', 'C', 'X'] }),
  ).toBe('C');
  expect(found([search({ filter: ['ids'], where: 'true' })], {})).toBe('');
});

test('items of one schema select together', () => {
  const items = [search({ filter: ['id'] }), search({ orderBy: 'speed desc', limit: 1 })];
  expect(found(items, { id: 'E' })).toBe('E B');
});

test('what was searched is part of what is decided on, and only what was found is loaded', () => {
  const outcome = read([search({ where: 'instance.injured' })]);
  if (!('read' in outcome)) throw new Error('needs more');
  const { reads, wholeSchemas, searched } = outcome.read;
  expect(reads).toEqual([{ entitySchema: 'horse', instanceId: 'B', revision: 1 }]);
  expect(wholeSchemas).toEqual(['horse']);
  expect(searched?.map(({ instanceId }) => instanceId)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

test('a schema is searched as a whole, up to 10,000 instances, and at most 500 are read', () => {
  const items = [search({ where: 'instance.n < 500' })];
  const { definition } = executionOf({ schemas: { horse: {} }, readEntities: items });
  const empty = {
    get: () => undefined,
    all: () => undefined,
    tooMany: () => false,
    isTooLarge: () => false,
    recent: { find: () => undefined },
  };
  expect(readEntities(definition, selectEntities(items, {}), empty)).toEqual({
    needs: { instances: [], schemas: [], searched: ['horse'] },
  });
  const large = { ...empty, isTooLarge: () => true };
  expect(() => readEntities(definition, selectEntities(items, {}), large)).toThrow(
    tooLargeToSearch().message,
  );
  expect([tooLargeToSearch(), tooManySearched()].map(isTooLargeToSearch)).toEqual([true, false]);
  const both = [...items, search({ where: 'true', filter: ['ids'] }), { schema: 'race' }];
  const together = { ...empty, isTooLarge: (schemas: readonly string[]) => schemas.length === 2 };
  expect(() => readEntities(definition, selectEntities(both, {}), together)).toThrow(
    tooLargeToSearch().message,
  );
  const many = (count: number) => ({
    horse: Object.fromEntries(Array.from({ length: count }, (_, n) => [`H${n}`, { n }])),
  });
  expect(Object.keys((read(items, {}, many(10_000)) as { read: { reads: object } }).read.reads)).toHaveLength(
    500,
  );
  expect(() => read(items, {}, many(10_001))).toThrow(tooManySearched().message);
  expect(() => read([search({ where: 'instance.n < 501' })], {}, many(600))).toThrow('at most 500');
  expect(tooManySearched()).toMatchObject({ code: 'read_set_too_large', facts: { limit: MAX_SEARCHED } });
});

test('the work of a search is bounded, whatever the time', () => {
  const loop = compileSearch(
    search({ where: '[1, 2, 3].exists(a, "x".split("").exists(b, a > instance.n))' }),
  );
  if (loop === undefined) throw new Error('no search');
  const candidates = Array.from({ length: 3 }, (_, n) => ({
    ...{ instanceId: `H${n}`, found: { state: { n }, revision: 1 }, state: { n } },
  }));
  expect(searchEntities(loop, candidates, {}, searchWork())).toHaveLength(3);
  expect(() => searchEntities(loop, candidates, {}, { work: 60 })).toThrow('more work');
});

test('an item without these members is no search', () => {
  expect(compileSearch({ schema: 'horse', filter: ['id'] })).toBeUndefined();
  expect(() => compileSearch(search({ where: 'x' }))).toThrow('not known');
  expect(() => compileSearch(search({ orderBy: ',' }))).toThrow('order');
});

test('all searches of one execution together go through a bounded number of instances', () => {
  const horses = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`H${n}`, { n }]));
  const fastest = (count: number) =>
    read(
      Array.from({ length: count }, () => search({ orderBy: 'n', limit: 1 })),
      {},
      { horse: horses },
    );
  expect(fastest(4)).toMatchObject({ read: { reads: [{ instanceId: 'H0' }] } });
  const refusal = expect.objectContaining({
    code: 'read_set_too_large',
    // A journal of a release without the bound may hold what goes beyond it: it is one of the process.
    facts: { maxSearched: 4 * MAX_SEARCHED, maxBytes: expect.any(Number) },
  });
  expect(() => fastest(5)).toThrow(refusal);
});
