import { DEFAULT_CONTENT_LIMITS } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { readContentLimits } from './read-content-limits.js';

it('keeps the defaults where nothing is set', () => {
  expect(readContentLimits({})).toEqual(DEFAULT_CONTENT_LIMITS);
});

it('reads sizes in KiB and counts', () => {
  const limits = readContentLimits({ MAX_STATE_KIB: '128', MAX_DOMAIN_TAGS: '3' });
  expect(limits).toEqual({ ...DEFAULT_CONTENT_LIMITS, stateBytes: 131_072, domainTags: 3 });
});

it('names all that is beyond what can be set', () => {
  const read = () => readContentLimits({ MAX_STATE_KIB: '129', MAX_INPUT_KIB: '0', MAX_PROMPT_KIB: 'much' });
  expect(read).toThrow(/MAX_INPUT_KIB .*1 to 128.*MAX_STATE_KIB .*1 to 128.*MAX_PROMPT_KIB/);
});

it('refuses an entry that could not hold an input or a state', () => {
  expect(() => readContentLimits({ MAX_ENTRY_KIB: '63' })).toThrow(/MAX_ENTRY_KIB .*at least MAX_INPUT_KIB/);
});
