import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { databaseThat } from '../tables/database-double.test-support.js';
import { createInstanceMemory } from './instance-memory.js';
import { createInstanceLoader } from './load-state.js';

const SEARCH = { last: 5 } as const;
const at = new Date(0);

/** A loader, and how many statements it has sent; each finds one instance and the entries up to 7. */
function setUp(fails = false) {
  const statements: string[] = [];
  const db = databaseThat((statement) => {
    statements.push(statement);
    if (fails) throw new Error('away');
    const found = { id: 1, instanceId: 'h1', state: {}, revision: 1, createdAt: at, updatedAt: at };
    return [{ ...found, bytes: 2, all: 2, head: 7, entry: null }];
  });
  return { loader: createInstanceLoader(db), statements };
}

const fifty = <T>(one: () => Promise<T>) => Promise.all(Array.from({ length: 50 }, one));

it('items that need the same at the same time share one read of it', async () => {
  const { loader, statements } = setUp();
  const memory = createInstanceMemory();
  await fifty(() => loader.loadSchema(1, memory, 'horse', 500));
  expect(statements).toHaveLength(1);
  expect(memory.all('horse')?.size).toBe(1);
  await fifty(() => loader.loadHistory(1, memory, SEARCH, 7));
  expect(statements).toHaveLength(2);
  expect(memory.recent.find(SEARCH)).toEqual([]);
});

it('what was read before, for another state of the deployment or up to another bound is not shared', async () => {
  const { loader, statements } = setUp();
  const [memory, other] = [createInstanceMemory(), createInstanceMemory()];
  await Promise.all([
    loader.loadSchema(1, memory, 'horse', 500),
    loader.loadSchema(1, memory, 'horse', 10_000),
    loader.loadSchema(1, memory, 'race', 500),
    loader.loadSchema(1, other, 'horse', 500),
  ]);
  expect(statements).toHaveLength(4);
  await loader.loadSchema(1, memory, 'horse', 500);
  expect(statements).toHaveLength(5);
});

it('what changes during a read stays, also for an item that joins it', async () => {
  const { loader } = setUp();
  const memory = createInstanceMemory();
  const read = loader.loadSchema(1, memory, 'horse', 500);
  const change = { entitySchema: 'horse', set: {}, unset: [], revision: 2 };
  memory.apply({ ...change, instanceId: 'h1', op: 'delete', state: null }, at, undefined);
  memory.apply({ ...change, instanceId: 'h2', op: 'create', state: {} }, at, 2);
  await Promise.all([read, loader.loadSchema(1, memory, 'horse', 500)]);
  expect([...(memory.all('horse')?.keys() ?? [])]).toEqual(['h2']);
});

it('a read that failed is made again', async () => {
  const { loader, statements } = setUp(true);
  const memory = createInstanceMemory();
  const load = () => loader.loadSchema(1, memory, 'horse', 500);
  await expect(Promise.all([load(), load()])).rejects.toThrow('away');
  await setImmediate();
  await expect(load()).rejects.toThrow('away');
  expect(statements).toHaveLength(2);
});
