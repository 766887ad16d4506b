import { describe, expect, it } from 'vitest';
import {
  type AttributeShape,
  checkAttributeDefinitions,
  checkState,
  compileEntitySchema,
} from './attribute.js';

const PERSON = "^\\p{L}[\\p{L}\\p{N} '-]{0,63}$";

const withPatterns = (count: number, pattern: (index: number) => string): AttributeShape[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `a${index}`,
    type: 'string',
    constraints: { pattern: pattern(index) },
    defaultValue: null,
  }));

const names = withPatterns(200, () => PERSON);
const codes = withPatterns(200, (index) => `^a${index}[A-Z0-9_]{1,16}$`);
const manyNames = withPatterns(200, (index) => `${PERSON}|^${index}$`);

describe('the patterns of an entity schema', () => {
  it('are taken where they are alike, or small', () => {
    expect(checkAttributeDefinitions(names)).toEqual([]);
    expect(checkAttributeDefinitions(codes)).toEqual([]);
  });

  it('are refused where compiling all of them takes too long, before any is compiled', () => {
    const problems = checkAttributeDefinitions([...manyNames, ...withPatterns(1, () => '(')]);
    expect(problems).toEqual([
      {
        pointer: expect.stringMatching(/^\/\d+\/constraints\/pattern$/),
        code: 'invalid_pattern',
        message: expect.stringContaining('too complex together'),
      },
    ]);
  });

  it('are refused one by one where each of them is too complex', () => {
    const problems = checkAttributeDefinitions(
      withPatterns(200, (index) => `(?i)[${'\\pL'.repeat(300)}]${index}`),
    );
    expect(problems).toHaveLength(200);
    expect(problems[199]).toMatchObject({ pointer: '/199/constraints/pattern', code: 'invalid_pattern' });
  });

  it('check states whatever they cost, once they are saved', () => {
    const [code] = checkState(compileEntitySchema(manyNames), { a0: 'Zoë', a1: '1', a2: '3' }).map(
      ({ pointer }) => pointer,
    );
    expect(code).toBe('/a2');
  });
});
