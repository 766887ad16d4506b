import { expect, it } from 'vitest';
import { enteredTexts } from './save-form.js';

it('sends what was not changed as it was, the rest trimmed, and null for what is empty', () => {
  const stored = { name: 'Derby', promptSeed: 'Rain.\n', description: ' old ', tags: '' };
  expect(enteredTexts(stored, { ...stored, name: ' Derby 2 ', description: ' ' })).toEqual({
    name: 'Derby 2',
    promptSeed: 'Rain.\n',
    description: null,
    tags: null,
  });
});
