import type { JournalFact } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { createFeeds } from './feeds.js';

const entries = Array.from({ length: 20 }, (_, at) => ({ kind: 'paused', seq: at + 1 }) as JournalFact);

it('keeps the text after the latest positions alone, however many are asked for', async () => {
  const journal = { after: async (_: string, seq: number) => ({ entries: entries.slice(seq), head: 20 }) };
  const heads = { beyond: (_: string, _seq: number, signal: AbortSignal) => aborted(signal) };
  const feeds = createFeeds({ journal: journal as never, heads: heads as never, clock: systemClock });
  await feeds.whileFollowing('0xa', 0, async (feed) => {
    await feed.growth(new AbortController().signal);
    const after = (seq: number) => feed.after(seq, () => false) as { readonly seq: number };
    const live = after(19);
    expect(after(19)).toBe(live);
    const first = after(1);
    expect(first.seq).toBe(20);
    for (let seq = 2; seq < 19; seq += 1) after(seq);
    expect([after(1) === first, after(19) === live]).toEqual([false, false]);
  });
});

it('gives so many bytes at once, and always an entry', async () => {
  const big = (seq: number, length: number) =>
    ({ kind: 'execution', seq, deployment: '0xa', input: { text: 'x'.repeat(length) }, pushes: [] }) as never;
  const page: JournalFact[] = [big(1, 100_000), big(2, 100_000), big(3, 100_000), big(4, 400_000), big(5, 1)];
  const journal = { after: async (_: string, seq: number) => ({ entries: page.slice(seq), head: 5 }) };
  const heads = { beyond: (_: string, _seq: number, signal: AbortSignal) => aborted(signal) };
  const feeds = createFeeds({ journal: journal as never, heads: heads as never, clock: systemClock });
  await feeds.whileFollowing('0xa', 0, async (feed) => {
    await feed.growth(new AbortController().signal);
    const ends: (number | undefined)[] = [];
    for (let seq: number | undefined = 0; seq !== undefined; ends.push(seq))
      seq = (feed.after(seq, () => false) as { readonly seq: number } | undefined)?.seq;
    expect(ends).toEqual([2, 3, 4, 5, undefined]);
  });
});

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
