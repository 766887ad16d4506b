import type { JsonObject } from '@orrery/contracts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pathWork, readPath } from './read-path.js';

const input: JsonObject = {
  winner: 'horse:H1',
  race: { id: 7, half: 0.5, horses: ['H1', 2, null, ['H3']], none: null },
  decomposed: 'Zoe\u0308',
  entries: [{ id: 'A', jockey: { name: 'x' } }, { id: 'B' }, {}],
};

it.each([
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
  expect(readPath(input, path)).toEqual({ ok: true, ids });
});

it('goes through a bounded number of values, which several paths may share', () => {
  const list = { list: Array.from({ length: 9_000 }, () => ({})) };
  const work = pathWork();
  const read = Array.from({ length: 100 }, (_, i) => readPath(list, `list.x${i}`, work).ok);
  expect([read[0], read[99]]).toEqual([true, false]);
  expect(readPath(list, 'list.x').ok).toBe(true);
});

it('normalizes a bounded number of characters, which several paths may share', () => {
  const marked = { list: Array.from({ length: 300 }, () => 'e\u0301'.repeat(500)) };
  const work = pathWork();
  expect([1, 2].map(() => readPath(marked, 'list', work).ok)).toEqual([true, false]);
});

it.each([
  ['race', input],
  ['entries.jockey', input],
  ['flag', { flag: true }],
  ['list', { list: ['a', {}] }],
])('%s leads to what no id can be', (path, value) => {
  expect(readPath(value as JsonObject, path)).toMatchObject({
    ok: false,
    problem: { code: 'invalid_filter_value' },
  });
});

it('says so where a path selects too many', () => {
  const ids = Array.from({ length: 10_001 }, (_, id) => id);
  expect(readPath({ ids: ids.slice(1) }, 'ids').ok).toBe(true);
  expect(readPath({ ids }, 'ids')).toMatchObject({
    problem: {
      code: 'invalid_filter_value',
      message: 'The filter path "ids" selects more than 10000 instances.',
    },
  });
});

it('never throws, and selects only texts', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 4 }), fc.string(), (value, path) => {
      const result = readPath(JSON.parse(JSON.stringify(value)) as JsonObject, path);
      if (result.ok) expect(result.ids.every((id) => typeof id === 'string')).toBe(true);
    }),
  );
});
