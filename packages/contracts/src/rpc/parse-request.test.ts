import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonObject } from '../json/json-schemas.js';
import { problemsOf } from './parse-request.js';

const body = z.strictObject({ name: z.string(), template: jsonObject.optional() });
const problems = (value: unknown) => {
  const { error } = body.safeParse(value);
  return error === undefined ? [] : problemsOf(error);
};

describe('problemsOf', () => {
  it('says that a field is missing', () => {
    const message = 'Required, but missing: expected string.';
    expect(problems({})).toEqual([{ pointer: '/name', code: 'invalid_type', message }]);
    expect(problems(undefined)[0]?.message).toBe('Required, but missing: expected object.');
  });

  it('speaks of objects, as JSON does', () => {
    expect(problems({ name: 'a', template: 'x' })).toEqual([
      {
        pointer: '/template',
        code: 'invalid_type',
        message: 'Invalid input: expected object, received string.',
      },
    ]);
    expect(problems({ name: null })[0]?.message).toBe('Invalid input: expected string, received null.');
  });

  it('names every property that is not known, at its place', () => {
    expect(problems({ name: 'a', 'b/c': 1, d: 2 })).toEqual([
      { pointer: '/b~1c', code: 'unknown_property', message: 'The property "b/c" is not known.' },
      { pointer: '/d', code: 'unknown_property', message: 'The property "d" is not known.' },
    ]);
  });
});
