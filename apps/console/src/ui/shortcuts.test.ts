import { expect, it } from 'vitest';
import { createKeySequence, type Shortcut } from './shortcuts.js';

const shortcut = (keys: string): Shortcut => ({ keys, words: keys, run: () => undefined });
const all = [shortcut('?'), shortcut('g w'), shortcut('g l'), shortcut('w')];

it('takes one key, or two that follow each other soon', () => {
  let at = 0;
  const press = createKeySequence(() => at);
  expect(press('?', all)?.keys).toBe('?');
  expect(press('g', all)).toBeUndefined();
  expect(press('w', all)?.keys).toBe('g w');
  expect(press('w', all)?.keys).toBe('w');
  press('g', all);
  at += 1001;
  expect(press('l', all)).toBeUndefined();
  expect(press('x', all)).toBeUndefined();
});
