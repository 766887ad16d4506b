import { describe, expect, it } from 'vitest';
import { EMPTY_VERSION, schemasInTemplate, schemasNamed, usesAllSchemas } from './stored-version.js';

const version = {
  ...EMPTY_VERSION,
  readEntities: [{ schema: 'horse' }, { schema: 'jockey' }],
  stateChanges: { horse: 'partial' as const },
  mutationSettings: { mode: 'direct' as const, template: { 'plot:1': {}, 'horse:2': {}, 'plot:3': {} } },
};

describe('the schemas of a version', () => {
  it('are those that it reads or may change, each once', () => {
    expect(schemasNamed(version)).toEqual(['horse', 'jockey']);
    expect(schemasNamed(EMPTY_VERSION)).toEqual([]);
  });

  it('may also be in the keys of its template', () => {
    expect(schemasInTemplate(version)).toEqual(['plot', 'horse']);
    expect(schemasInTemplate(EMPTY_VERSION)).toEqual([]);
  });

  it('are all of the world without a map of changes', () => {
    expect(usesAllSchemas(EMPTY_VERSION)).toBe(true);
    expect(usesAllSchemas({ ...EMPTY_VERSION, stateChanges: {} })).toBe(false);
  });
});
