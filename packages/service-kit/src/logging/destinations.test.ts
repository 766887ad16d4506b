import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { turnWriter } from './logger.js';

it('writes the lines of a turn together, in their order, and what is left when the process ends', async () => {
  const written: string[] = [];
  const before = process.listeners('exit');
  const added = () => process.listeners('exit').filter((listener) => !before.includes(listener));
  const writer = turnWriter({ write: (text) => written.push(text) });
  writer.write('one\n');
  await Promise.resolve();
  writer.write('two\n');
  expect(written).toEqual([]);
  await turn();
  expect(written).toEqual(['one\ntwo\n']);
  expect(added()).toEqual([]);
  writer.write('three\n');
  for (const onExit of added()) onExit(0);
  await turn();
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
  expect(added()).toEqual([]);
});
