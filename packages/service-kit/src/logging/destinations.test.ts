import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { turnWriter } from './logger.js';

it('writes the lines of a turn together, in their order, and what is left when the process ends', async () => {
  const written: string[] = [];
  const before = process.listeners('exit');
  const writer = turnWriter({ write: (text) => written.push(text) });
  const [onExit] = process.listeners('exit').filter((listener) => !before.includes(listener));
  writer.write('one\n');
  await Promise.resolve();
  writer.write('two\n');
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual(['one\ntwo\n']);
  writer.write('three\n');
  onExit?.(0);
  await turn();
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
  if (onExit !== undefined) process.off('exit', onExit);
});
