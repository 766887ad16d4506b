import { expect, it } from 'vitest';
import { labelAt, partWords, withoutPointer } from './messages.js';

const labels = { '/name': 'Name', '/guards': 'Guards', '/guards/deny': 'Attributes that stay' };

it('finds the field that a pointer leads to, or into', () => {
  expect(
    ['/name', '/guards/deny/0', '/guards/maxDelta/wins', '/names', '', '#query/page'].map((one) =>
      labelAt(labels, one),
    ),
  ).toEqual(['Name', 'Attributes that stay', 'Guards', undefined, undefined, undefined]);
});

it('takes the pointer from the beginning of a text', () => {
  expect(withoutPointer('/name: Too long.', ['/description', '/name'])).toEqual({
    pointer: '/name',
    text: 'Too long.',
  });
  expect(withoutPointer('It is paused.', ['/name', ''])).toEqual({ text: 'It is paused.' });
});

it('says where in an input or in which instance something is', () => {
  expect(['/laps', '/car/speed', '/horse:H1/stamina', '/horse:H1', '/a~1b', ''].map(partWords)).toEqual([
    'laps',
    'car.speed',
    'stamina of horse:H1',
    'horse:H1',
    'a/b',
    undefined,
  ]);
});
