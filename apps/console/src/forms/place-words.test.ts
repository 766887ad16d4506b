import { expect, it } from 'vitest';
import { placeWords } from './place-words.js';

it('says where in an input or in which instance something is', () => {
  expect(['/laps', '/car/speed', '/horse:H1/stamina', '/horse:H1', '/a~1b', ''].map(placeWords)).toEqual([
    'laps',
    'car.speed',
    'stamina of horse:H1',
    'horse:H1',
    'a/b',
    undefined,
  ]);
});
