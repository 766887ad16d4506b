import { type CheckedChange, MAX_READ, MAX_SEARCHED_BYTES } from '@orrery/deciding';
import { expect, it } from 'vitest';
import { createInstanceMemory, type MemoryInstance } from './instance-memory.js';

const at = new Date(0);
const instance = (id: number, state = {}): MemoryInstance => ({
  id,
  state,
  revision: 1,
  createdAt: at,
  updatedAt: at,
});
const change = (instanceId: string, rest: Partial<CheckedChange>): CheckedChange => ({
  entitySchema: 'horse',
  instanceId,
  op: 'update',
  set: {},
  unset: [],
  revision: 2,
  state: {},
  ...rest,
});

it('knows nothing at first, and what was read or is known to be absent after', () => {
  const memory = createInstanceMemory();
  expect(memory.get('horse', 'a')).toBeUndefined();
  memory.learn('horse', 'a', instance(1));
  memory.learn('horse', 'b', null);
  expect(memory.get('horse', 'a')).toMatchObject({ id: 1 });
  expect(memory.get('horse', 'b')).toBeNull();
  expect(memory.all('horse')).toBeUndefined();
});

it('what memory knows already is newer than what a read finds', () => {
  const memory = createInstanceMemory();
  memory.learn('horse', 'a', instance(1));
  memory.apply(change('a', { state: { wins: 2 } }), at, undefined);
  memory.learn('horse', 'a', instance(1, { wins: 1 }));
  memory.apply(change('gone', { op: 'create', revision: 1 }), at, 2);
  memory.apply(change('gone', { op: 'delete', state: null }), at, undefined);
  memory.learnAll(
    'horse',
    new Map([
      ['a', instance(1)],
      ['gone', instance(2)],
      ['c', instance(3)],
    ]),
    500,
  );
  expect([...(memory.all('horse')?.keys() ?? [])]).toEqual(['a', 'c']);
  expect(memory.get('horse', 'a')?.state).toEqual({ wins: 2 });
  expect(memory.get('horse', 'never seen')).toBeNull();
});

const many = new Map(Array.from({ length: MAX_READ + 1 }, (_, index) => [`h${index}`, instance(index)]));

it('a schema with more than one execution may read is never complete', () => {
  const memory = createInstanceMemory();
  memory.learnAll('horse', many, 500);
  expect(memory.all('horse')).toBeUndefined();
  expect(memory.tooMany('horse', 500)).toBe(true);
  memory.apply(change('h1', { op: 'delete', state: null }), at, undefined);
  expect(memory.tooMany('horse', 500)).toBe(false);
});

it('a read that was overtaken by a deletion does not report too many', () => {
  const memory = createInstanceMemory();
  memory.learn('horse', 'h1', instance(1));
  memory.apply(change('h1', { op: 'delete', state: null }), at, undefined);
  memory.learnAll('horse', many, 500);
  expect(memory.tooMany('horse', 500)).toBe(false);
  expect(memory.all('horse')).toBeUndefined();
  memory.learnAll('horse', new Map([...many].filter(([instanceId]) => instanceId !== 'h1')), 500);
  expect(memory.all('horse')?.size).toBe(MAX_READ);
});

it('does not take in what is too large, and is read again once changes have made it smaller enough', () => {
  const memory = createInstanceMemory();
  const text = 'x'.repeat(100);
  memory.learn('horse', 'h1', { ...instance(1), state: { text } });
  memory.learnAll('horse', many, 500, 150);
  expect([memory.isTooLarge(['horse']), memory.all('horse'), memory.tooMany('horse', 500)]).toEqual([
    true,
    undefined,
    false,
  ]);
  expect(memory.get('horse', 'h2')).toBeUndefined();
  const shrink = { op: 'update', set: { text: '' }, state: { text: '' } } as const;
  memory.apply(change('h1', shrink), at, undefined);
  expect(memory.isTooLarge(['horse'])).toBe(false);
  memory.learnAll('horse', many, 500);
  expect(memory.isTooLarge(['horse'])).toBe(false);
});

it('a read that was overtaken by a deletion and a creation reports too many', () => {
  const memory = createInstanceMemory();
  memory.learn('horse', 'h1', instance(1));
  memory.apply(change('h1', { op: 'delete', state: null }), at, undefined);
  memory.apply(change('new', { op: 'create', revision: 1 }), at, MAX_READ + 1);
  memory.learnAll('horse', many, 500);
  expect(memory.tooMany('horse', 500)).toBe(true);
});

it('counts what it holds, not what it has held', () => {
  const memory = createInstanceMemory();
  const written = (length: number) => ({ text: 'x'.repeat(length) });
  const set = (length: number) => {
    const state = written(length);
    memory.apply(change('h1', { op: 'update', set: state, state }), at, undefined);
  };
  memory.learn('horse', 'h1', { ...instance(1), state: written(8000) });
  const before = memory.bytes();
  for (let count = 0; count < 10; count += 1) set(8000);
  expect(memory.bytes()).toBe(before);
  set(0);
  expect(memory.bytes()).toBe(before - 16_000);
  memory.apply(change('h1', { op: 'update', set: {}, unset: ['text'], state: {} }), at, undefined);
  memory.apply(change('h1', { op: 'delete', state: null }), at, undefined);
  expect(memory.bytes()).toBeLessThan(1000);
});

it('lists instances in the order of their creation, whatever it met first', () => {
  const memory = createInstanceMemory();
  const one = (id: number) => ({
    id,
    state: {},
    revision: 1,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  });
  memory.learn('horse', 'late', one(9));
  memory.learnAll(
    'horse',
    new Map([
      ['early', one(2)],
      ['late', one(9)],
      ['middle', one(5)],
    ]),
    10,
  );
  expect([...(memory.all('horse')?.keys() ?? [])]).toEqual(['early', 'middle', 'late']);
});

it('schemas are too large together, until changes have made them smaller enough', () => {
  const memory = createInstanceMemory();
  const state = { text: 'x'.repeat(1000) };
  const half = MAX_SEARCHED_BYTES / 2;
  memory.learnAll('horse', new Map([['h1', { ...instance(1), state }]]), 500, 0, half);
  memory.learnAll('race', new Map(), 500, 0, half + 900);
  expect([['horse'], ['race'], ['horse', 'race']].map(memory.isTooLarge)).toEqual([false, false, true]);
  memory.apply(change('h1', { op: 'delete', state: null }), at, undefined);
  expect(memory.isTooLarge(['horse', 'race'])).toBe(false);
});

it('what was dropped knows nothing, holds nothing and takes nothing in', () => {
  const memory = createInstanceMemory();
  const found = new Map([['a', instance(1)]]);
  memory.learnAll('horse', found, 500);
  memory.drop();
  memory.learnAll('horse', found, 500);
  memory.learn('horse', 'b', instance(2));
  expect([memory.all('horse'), memory.get('horse', 'b'), memory.bytes()]).toEqual([undefined, undefined, 0]);
});
