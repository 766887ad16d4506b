import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createPacker, readPack, writePack } from './packs.js';

const items = [
  { id: '1', headers: { 'orrery-request': 'a\n"b"' }, body: '{"name":"Rennen 🐎\\n"}' },
  { id: '2z', headers: {}, body: 'null' },
];

it('reads what it has written, whatever the texts are', () => {
  expect(readPack(writePack(items))).toEqual(items);
});

it.each([writePack(items).slice(0, -1), `${writePack(items)}x`, '', '\n', 'null\n', '[1]\n', '[]'])(
  'refuses what is no pack: %j',
  (text) => {
    expect(() => readPack(text)).toThrow();
  },
);

it('sends the items of one turn for one subject together, in their order, and nothing in the next turn', async () => {
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

it('does not wait when a pack is full, nor when it is flushed', async () => {
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
