import { expect, it } from 'vitest';
import { fieldProblem, MISTAKE_CODES, suggested, withSuggestions } from './problems.js';

it('has a suggestion for every code, as a sentence', () => {
  for (const code of MISTAKE_CODES) {
    const { suggestion } = suggested(fieldProblem('', code, 'Wrong.'));
    expect(suggestion, code).toMatch(/^\p{Lu}.*\.$/su);
    expect(suggestion).not.toBe('Wrong.');
  }
});

it('keeps a suggestion of its own, and gives none to problems that no definition has', () => {
  const own = fieldProblem('/wisn', 'unknown_attribute', 'No such attribute.', 'Write "wins".');
  const foreign = fieldProblem('/aiModelId', 'unknown_ai_model', 'No such model.');
  expect(withSuggestions([own, foreign])).toEqual([own, foreign]);
});
