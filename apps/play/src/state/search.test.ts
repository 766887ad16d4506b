import { expect, it } from 'vitest';
import { answered, questionOf } from './search.js';

const row = { id: 'A', state: {}, changed: {} };

it('asks another question at another moment, of another schema, name or order', () => {
  const asked = { schema: 'horse', find: '', order: undefined };
  const questions = [
    questionOf({ moment: undefined }, asked),
    questionOf({ moment: 5 }, asked),
    questionOf({ moment: 5 }, { ...asked, find: 'A' }),
    questionOf({ moment: 5 }, { ...asked, order: { name: 'wins', isDescending: true } }),
    questionOf({ moment: 5 }, { ...asked, order: { name: 'wins', isDescending: false } }),
    questionOf({ moment: 5 }, { ...asked, schema: 'rider' }),
  ];
  expect(new Set(questions).size).toBe(questions.length);
});

it('tells what did not work, beside what the same question has found before', () => {
  const found = answered({}, 'q', { rows: [row], isCut: true });
  expect(found).toEqual({ question: 'q', rows: [row], isCut: true });
  const failed = answered(found, 'q', { fault: 'It costs too much.' });
  expect(failed).toEqual({ ...found, fault: 'It costs too much.' });
  expect(answered(failed, 'q', { rows: [], isCut: false })).toEqual({
    question: 'q',
    rows: [],
    isCut: false,
  });
  expect(answered({}, 'q', { fault: 'x' }).rows).toBeUndefined();
});
