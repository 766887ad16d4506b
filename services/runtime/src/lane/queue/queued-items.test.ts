import { MAX_READ, MAX_SEARCHED_BYTES } from '@orrery/deciding';
import { expect, it, vi } from 'vitest';
import { createInstanceMemory } from '../../store/state/instance-memory.js';
import { type LaneParts, prepareItem, type QueuedItem } from './queued-items.js';

const MIB = 1024 * 1024;

it('an item that needs too much of whole schemas fails before it has loaded all of them', async () => {
  const instances = createInstanceMemory();
  const state = { id: 1, row: { deleted_at: null }, instances };
  const loadSchema = vi.fn(async (_id, memory: typeof instances, schema: string, most: number) => {
    memory.learnAll(schema, new Map(), most, 0, 30 * MIB);
    return 30 * MIB;
  });
  const grew = vi.fn();
  const parts = { states: { get: () => state, grew }, instances: { loadSchema } } as unknown as LaneParts;
  const names = Array.from({ length: 40 }, (_, index) => `schema ${index}`);
  const needs = { schemas: names.slice(0, 1), searched: names.slice(1) };
  await prepareItem(parts, { item: {}, state, needs } as unknown as QueuedItem, () => undefined);
  expect(loadSchema.mock.calls.map(([, , schema, most]) => [schema, most])).toEqual([
    ['schema 0', MAX_READ],
    ['schema 1', 10_000],
    ['schema 2', 10_000],
  ]);
  expect(3 * 30 * MIB).toBeGreaterThan(MAX_SEARCHED_BYTES);
  expect(instances.isTooLarge(names)).toBe(true);
  expect(grew).toHaveBeenCalledOnce();
});
