import { expect, it } from 'vitest';
import { warningsIn } from './warnings.js';

it('tells the warnings of a text apart, each with its place', () => {
  const key = 'cart:{{ input.a ? "x": input.b }}';
  expect(
    warningsIn(`Done. Warning: /0: Is 0 meant? Yes. Warning: /t/${key}/lod: No attribute "lod".`),
  ).toEqual({
    text: 'Done.',
    warnings: [
      { pointer: '/0', words: 'Is 0 meant? Yes.' },
      { pointer: `/t/${key}/lod`, words: 'No attribute "lod".' },
    ],
  });
});

it('leaves a text without warnings, and a warning without a place, as they are', () => {
  expect(warningsIn('Locked.')).toEqual({ text: 'Locked.', warnings: [] });
  expect(warningsIn('Warning: All of it?')).toEqual({
    text: '',
    warnings: [{ pointer: '', words: 'All of it?' }],
  });
});
