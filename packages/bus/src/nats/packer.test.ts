import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createPacker } from './packer.js';

it('sends what one turn brings to one place together, in its order, and a turn later nothing more', async () => {
  const send = vi.fn();
  const packer = createPacker<number>(send);
  packer.add('a', 1, 10);
  packer.add('b', 2, 10);
  await Promise.resolve();
  packer.add('a', 3, 10);
  expect(send).not.toHaveBeenCalled();
  await turn();
  expect(send.mock.calls).toEqual([
    ['a', [1, 3]],
    ['b', [2]],
  ]);
  await turn();
  expect(send).toHaveBeenCalledTimes(2);
});

it('does not wait when a pack is full, nor when it is told to send', async () => {
  const send = vi.fn();
  const packer = createPacker<number>(send);
  packer.add('a', 1, 100 * 1024);
  packer.add('a', 2, 100 * 1024);
  expect(send.mock.calls).toEqual([['a', [1, 2]]]);
  for (let count = 0; count < 17; count += 1) packer.add('a', 3, 1);
  expect(send.mock.calls[1]?.[1]).toHaveLength(16);
  packer.flush();
  expect(send.mock.calls[2]).toEqual(['a', [3]]);
  await turn();
  expect(send).toHaveBeenCalledTimes(3);
});
