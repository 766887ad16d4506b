import { type FieldProblem, fieldProblem } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { below, noSuch, problemsOfKinds, refuseProblems } from './problems.js';

const problem = (pointer: string, message = 'wrong'): FieldProblem =>
  fieldProblem(pointer, 'invalid', message);
const many = Array.from({ length: 30 }, (_, index) => problem(`/${index}`));

describe('problems', () => {
  it('get pointers into what is around', () => {
    expect(below('/a', [problem('/b'), problem('')])).toEqual([problem('/a/b'), problem('/a')]);
  });

  it('of all kinds are told once each, twenty at most', () => {
    const kinds = [
      { code: 'invalid_template', problems: [problem('/a'), problem('/a')] },
      { code: 'validation_failed', problems: many },
    ] as const;
    const told = problemsOfKinds(kinds, '/v');
    expect(told.slice(0, 2)).toEqual([problem('/v/a'), problem('/v/0')]);
    expect(told).toHaveLength(20);
  });

  it('refuse with the code of the first kind that has any', () => {
    const kinds = [
      { code: 'template_required', problems: [] },
      { code: 'invalid_template', problems: [problem('/a')] },
      { code: 'validation_failed', problems: [problem('/b')] },
    ] as const;
    const refusal = {
      code: 'invalid_template',
      message: '/a: wrong',
      errors: [problem('/a'), problem('/b')],
    };
    expect(() => refuseProblems(kinds, '')).toThrow(expect.objectContaining(refusal));
    expect(() => refuseProblems(kinds.slice(0, 1), '')).not.toThrow();
  });
});

describe('noSuch', () => {
  it('says which name may be meant', () => {
    expect(noSuch('The world', 'event', 'rase', ['race', 'rest'])).toBe(
      'The world has no event "rase". Did you mean "race"?',
    );
  });
});
