import { describe, expect, it } from 'vitest';
import { createBatchLoader } from './batch-loader.js';

const limits = { batch: 3, waiting: 4 };

describe('batch loader', () => {
  it('shares one query between all who ask in the same turn', async () => {
    const batches: string[][] = [];
    const loader = createBatchLoader(async (ids) => {
      batches.push(ids);
      return new Map(ids.map((id) => [id, id.toUpperCase()]));
    }, limits);
    expect(await Promise.all(['a', 'b', 'a'].map((id) => loader.load(id)))).toEqual(['A', 'B', 'A']);
    expect(batches).toEqual([['a', 'b']]);
  });

  it('cuts large batches and answers what is absent', async () => {
    const sizes: number[] = [];
    const loader = createBatchLoader<string>(async (ids) => {
      sizes.push(ids.length);
      return new Map();
    }, limits);
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => loader.load(id)))).toEqual(
      Array(4).fill(undefined),
    );
    expect(sizes).toEqual([3, 1]);
  });

  it('fails the askers of a failed batch only', async () => {
    let calls = 0;
    const loader = createBatchLoader<string>(async () => {
      calls += 1;
      if (calls === 1) throw new Error('away');
      return new Map([['a', 'A']]);
    }, limits);
    await expect(loader.load('a')).rejects.toThrow('away');
    expect(await loader.load('a')).toBe('A');
  });

  it('refuses more than it may keep waiting', async () => {
    const loader = createBatchLoader<string>(async () => new Map(), limits);
    const asked = ['a', 'b', 'c', 'd'].map((id) => loader.load(id));
    await expect(loader.load('e')).rejects.toMatchObject({ code: 'overloaded' });
    await Promise.all(asked);
  });
});
