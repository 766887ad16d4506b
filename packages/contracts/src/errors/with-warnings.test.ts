import { expect, it } from 'vitest';
import { fieldProblem } from '../json/json.js';
import { withWarnings } from './wording.js';

const warnings = (count: number) =>
  Array.from({ length: count }, (_, index) => fieldProblem(`/${index}`, 'likely', `Is ${index} meant?`));

it('has nothing to say without a message and without warnings', () => {
  expect(withWarnings([])).toBeUndefined();
  expect(withWarnings([], 'Done.')).toBe('Done.');
});

it('says the same of one place once', () => {
  expect(withWarnings([...warnings(1), ...warnings(1)])).toBe('Warning: /0: Is 0 meant?');
});

it('adds warnings with their places to a message, and counts those beyond five', () => {
  expect(withWarnings([fieldProblem('', 'likely', 'All of it?')])).toBe('Warning: All of it?');
  expect(withWarnings(warnings(2), 'Done.')).toBe('Done. Warning: /0: Is 0 meant? Warning: /1: Is 1 meant?');
  expect(withWarnings(warnings(7))).toMatch(/Warning: \/4: Is 4 meant\? There are 2 more warnings\.$/);
});
