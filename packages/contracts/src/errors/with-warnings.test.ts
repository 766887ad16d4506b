import { expect, it } from 'vitest';
import { fieldProblem, MAX_FOUND } from '../json/problems.js';
import { withWarnings, writeInstead } from './wording.js';

const warnings = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    fieldProblem(`/${index}`, 'unknown_attribute', `Is ${index} meant?`),
  );

it('has nothing to say without a message and without warnings', () => {
  expect(withWarnings([])).toEqual({});
  expect(withWarnings([], 'Done.')).toEqual({ message: 'Done.' });
});

it('says the same of one place once, and how to mend it', () => {
  const [warning] = warnings(1);
  const suggestion = expect.stringContaining('Write the name of an attribute');
  expect(withWarnings([...warnings(1), ...warnings(1)], 'Done.')).toEqual({
    message: 'Done.',
    warnings: [{ ...warning, suggestion }],
  });
});

it('prefers what a warning itself suggests to what its code does', () => {
  const own = fieldProblem('/wisn', 'unknown_attribute', 'No such attribute.', writeInstead('wins'));
  expect(withWarnings([own]).warnings?.map(({ suggestion }) => suggestion)).toEqual(['Write "wins".']);
  expect(writeInstead(undefined)).toBeUndefined();
});

it('tells a bounded number', () => {
  expect(withWarnings(warnings(300)).warnings).toHaveLength(MAX_FOUND);
});
