import { expect, it, vi } from 'vitest';
import { type Router, routerExchange } from './hub.js';

it('keeps nothing of a listener that has left', async () => {
  const ends = [vi.fn(), vi.fn()];
  const listen = vi.fn().mockReturnValueOnce(ends[0]).mockReturnValueOnce(ends[1]);
  const exchange = routerExchange({ listen } as unknown as Router);
  const leaving = new AbortController();
  await exchange.listen('updates', () => undefined, leaving.signal);
  await exchange.listen('updates', () => undefined, new AbortController().signal);
  leaving.abort();
  exchange.stop();
  expect(ends.map((end) => end.mock.calls.length)).toEqual([1, 1]);
});
