import { describe, expect, it } from 'vitest';
import type { CatalogLimits } from '../limits.js';
import { refuseLargeTexts } from './large-texts.js';

const limits = {
  promptBytes: 1024,
  descriptionBytes: 2048,
  domainTags: 2,
  domainTagCharacters: 3,
} as CatalogLimits;

const pointersOf = (body: object): string[] => {
  try {
    refuseLargeTexts(body, limits);
    return [];
  } catch (error) {
    return (error as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer);
  }
};

describe('refuseLargeTexts', () => {
  it('takes what keeps to the limits', () => {
    expect(pointersOf({})).toEqual([]);
    expect(pointersOf({ description: 'x'.repeat(2048), domainTags: ['abc', 'äöü'] })).toEqual([]);
  });

  it('finds prompts wherever a body may have them', () => {
    const large = 'x'.repeat(1025);
    expect(pointersOf({ promptSeed: large, firstVersion: { behaviorPrompt: large } })).toEqual([
      '/promptSeed',
      '/firstVersion/behaviorPrompt',
    ]);
    expect(pointersOf({ mutationSettings: { behaviorPrompt: large } })).toHaveLength(1);
  });

  it('counts tags and their characters', () => {
    expect(pointersOf({ domainTags: ['a', 'b', 'long'] })).toEqual(['/domainTags', '/domainTags/2']);
  });
});
