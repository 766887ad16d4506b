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

  it('wakes who is behind as soon as it is told, and does not put to sleep who missed the news', async () => {
    const watch = createHeadWatch(async () => 0);
    const { signal } = new AbortController();
    const woken: number[] = [];
    for (const seq of [4, 5]) void watch.beyond('a', seq, signal).then(() => woken.push(seq));
    watch.grew([
      ['a', 5],
      ['b', 7],
    ]);
    await watch.beyond('b', 6, signal);
    expect(woken).toEqual([4]);
    watch.grew([['a', 6]]);
    await watch.beyond('a', 5, signal);
    expect(woken).toEqual([4, 5]);
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
