import { describe, expect, it } from 'vitest';
import { readSpellings } from './read-spellings.js';

const codeOf = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'accepted';
};

describe('readSpellings', () => {
  it('takes either name of the map', () => {
    const map = { horse: 'full' as const };
    expect(readSpellings({ stateChangeSchema: map })).toEqual({ stateChanges: map });
    expect(readSpellings({ stateChanges: map, stateChangeSchema: { ...map } })).toEqual({
      stateChanges: map,
    });
  });

  it('takes the prompt from either place', () => {
    const settings = { mode: 'ai' as const, behaviorPrompt: 'Think.' };
    expect(readSpellings({ mutationSettings: settings }).behaviorPrompt).toBe('Think.');
    expect(readSpellings({ mutationSettings: settings, behaviorPrompt: 'Think.' }).behaviorPrompt).toBe(
      'Think.',
    );
    expect(readSpellings({ mutationSettings: null, behaviorPrompt: 'Think.' }).behaviorPrompt).toBe('Think.');
  });

  it('refuses two spellings that differ, null included', () => {
    expect(codeOf(() => readSpellings({ stateChanges: {}, stateChangeSchema: null }))).toBe(
      'conflicting_fields',
    );
    const settings = { behaviorPrompt: null };
    expect(codeOf(() => readSpellings({ behaviorPrompt: 'x', mutationSettings: settings }))).toBe(
      'conflicting_fields',
    );
  });

  it('names schemas as they are stored, in NFC', () => {
    const sent = {
      readEntities: [{ schema: 'e\u0301', filter: ['id'] }],
      stateChangeSchema: { 'e\u0301': 'full' as const },
    };
    const read = { readEntities: [{ schema: '\u00e9', filter: ['id'] }], stateChanges: { '\u00e9': 'full' } };
    expect(readSpellings(sent)).toEqual(read);
    const both = { 'e\u0301': 'full' as const, '\u00e9': 'append' as const };
    expect(codeOf(() => readSpellings({ stateChanges: both }))).toBe('conflicting_fields');
  });

  it('adds nothing that was not sent', () => {
    expect(readSpellings({})).toEqual({});
  });
});
