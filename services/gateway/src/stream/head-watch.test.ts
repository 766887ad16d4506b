import { describe, expect, it } from 'vitest';
import { createHeadWatch } from './head-watch.js';

describe('head watch', () => {
  it('wakes those that are behind, with one question per deployment', async () => {
    const asked: [string, number][] = [];
    const watch = createHeadWatch(async (deployment, known) => {
      asked.push([deployment, known]);
      return 5;
    });
    const { signal } = new AbortController();
    const woken: string[] = [];
    for (const [deployment, seq] of [
      ['a', 4],
      ['a', 5],
      ['b', 1],
    ] as const)
      void watch.beyond(deployment, seq, signal).then(() => woken.push(`${deployment}${seq}`));
    await watch.look();
    expect(asked).toEqual([
      ['a', 4],
      ['b', 1],
    ]);
    expect(woken).toEqual(['a4', 'b1']);
    await watch.look();
    expect(asked.slice(2)).toEqual([['a', 5]]);
  });

  it('forgets who has left', async () => {
    const asked: string[] = [];
    const watch = createHeadWatch(async (deployment) => asked.push(deployment));
    const leaving = new AbortController();
    const left = watch.beyond('a', 1, leaving.signal);
    leaving.abort();
    await left;
    await watch.look();
    await watch.beyond('b', 1, leaving.signal);
    expect(asked).toEqual([]);
  });

  it('lets one failing deployment not keep the others asleep', async () => {
    const watch = createHeadWatch(async (deployment) => {
      if (deployment === 'bad') throw new Error('away');
      return 9;
    });
    const { signal } = new AbortController();
    void watch.beyond('bad', 1, signal);
    const good = watch.beyond('good', 1, signal);
    await expect(watch.look()).rejects.toThrow('away');
    await good;
  });
});
