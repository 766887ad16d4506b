import { describe, expect, it } from 'vitest';
import { createHeadWatch } from './watches.js';

describe('head watch', () => {
  it('wakes those that are behind, with one call per deployment', async () => {
    const polled: [string, number][] = [];
    const watch = createHeadWatch(async (deployment, known) => {
      polled.push([deployment, known]);
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
    await watch.poll();
    expect(polled).toEqual([
      ['a', 4],
      ['b', 1],
    ]);
    expect(woken).toEqual(['a4', 'b1']);
    await watch.poll();
    expect(polled.slice(2)).toEqual([['a', 5]]);
  });

  it('wakes streams that are behind at a broadcast, and does not let one wait that missed the broadcast', async () => {
    const watch = createHeadWatch(async () => 0);
    const { signal } = new AbortController();
    const woken: number[] = [];
    for (const seq of [4, 5]) void watch.beyond('a', seq, signal).then(() => woken.push(seq));
    watch.onHeads([
      ['a', 5],
      ['b', 7],
    ]);
    await watch.beyond('b', 6, signal);
    expect(woken).toEqual([4]);
    watch.onHeads([['a', 6]]);
    await watch.beyond('a', 5, signal);
    expect(woken).toEqual([4, 5]);
  });

  it('forgets streams that have ended', async () => {
    const polled: string[] = [];
    const watch = createHeadWatch(async (deployment) => polled.push(deployment));
    const leaving = new AbortController();
    const left = watch.beyond('a', 1, leaving.signal);
    leaving.abort();
    await left;
    await watch.poll();
    await watch.beyond('b', 1, leaving.signal);
    expect(polled).toEqual([]);
  });

  it('wakes the others when one deployment fails', async () => {
    const watch = createHeadWatch(async (deployment) => {
      if (deployment === 'bad') throw new Error('away');
      return 9;
    });
    const { signal } = new AbortController();
    void watch.beyond('bad', 1, signal);
    const good = watch.beyond('good', 1, signal);
    await expect(watch.poll()).rejects.toThrow('away');
    await good;
  });
});
