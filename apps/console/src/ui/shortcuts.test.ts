import { expect, it } from 'vitest';
import { createKeySequence, type Shortcut } from './shortcuts.js';

const shortcut = (keys: string): Shortcut => ({ keys, words: keys, run: () => undefined });
const all = [shortcut('?'), shortcut('g w'), shortcut('g l'), shortcut('w')];

it('takes one key, or two that were pressed soon after each other', () => {
  const take = createKeySequence();
  const press = (key: string, timeStamp: number) => take({ key, timeStamp }, all)?.keys;
  expect(press('?', 0)).toBe('?');
  expect(press('g', 1)).toBeUndefined();
  expect(press('w', 2)).toBe('g w');
  expect(press('w', 3)).toBe('w');
  press('g', 1000);
  expect(press('l', 2001)).toBeUndefined();
  expect(press('x', 2002)).toBeUndefined();
});
