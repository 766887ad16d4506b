import { describe, expect, it } from 'vitest';
import { mergeVersion } from './merge-version.js';
import { EMPTY_VERSION, type StoredVersion } from './stored-version.js';
import { toDefinition, versionHash } from './version-hash.js';

const stored: StoredVersion = {
  ...EMPTY_VERSION,
  behaviorPrompt: 'Think.',
  mutationSettings: { mode: 'ai' },
  stateChanges: { horse: 'partial' },
};

describe('versionHash', () => {
  it('is the documented one', () => {
    expect(versionHash(EMPTY_VERSION, {})).toBe(
      // sha256 of the RFC 8785 text, computed by hand with sha256sum.
      '6db9ad3ec2f1c5503f7171e22abc9220db7dc19b1e943798a5ce780ad83f9b96',
    );
  });

  it('is what it was where what is read is not searched', () => {
    const readEntities = [{ schema: 'horse', filter: ['id'] }];
    const hash = versionHash({ ...EMPTY_VERSION, readEntities }, {});
    // sha256 of the RFC 8785 text as it was before searches.
    expect(hash).toBe('e446ae9d963e053a05d9090f1b6899803a98b60941d243285fced5a582d3578a');
    const searched = readEntities.map((entity) => ({ ...entity, limit: 1 }));
    expect(versionHash({ ...EMPTY_VERSION, readEntities: searched }, {})).not.toBe(hash);
  });

  it('covers what is remembered, and is what it was where nothing is', () => {
    const hash = versionHash(EMPTY_VERSION, {});
    const remembering = mergeVersion(EMPTY_VERSION, { readHistory: { last: 5 } });
    expect(versionHash(remembering, {})).not.toBe(hash);
    expect(mergeVersion(remembering, {})).toEqual(remembering);
    const forgetting = mergeVersion(remembering, { readHistory: null });
    expect(forgetting).not.toHaveProperty('readHistory');
    expect(versionHash(forgetting, {})).toBe(hash);
  });

  it('does not depend on the order of keys', () => {
    const turned = Object.fromEntries(Object.entries(stored).reverse()) as unknown as StoredVersion;
    expect(versionHash(turned, { b: '2', a: '1' })).toBe(versionHash(stored, { a: '1', b: '2' }));
  });

  it('changes with each part and with each schema', () => {
    const hashes = [
      versionHash(stored, {}),
      versionHash(stored, { horse: '1' }),
      versionHash(stored, { horse: '2' }),
      versionHash({ ...stored, behaviorPrompt: 'Else.' }, {}),
      versionHash({ ...stored, guards: { create: false } }, {}),
      versionHash(
        { ...stored, executionSettings: { visibility: 'cron', cron: { schedule: '* * * * *' } } },
        {},
      ),
      versionHash(
        {
          ...stored,
          executionSettings: { visibility: 'cron', cron: { schedule: '* * * * *', timezone: 'UTC' } },
        },
        {},
      ),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('toDefinition', () => {
  it('shows the prompt at the top and in the settings, where there are any', () => {
    expect(toDefinition(stored)).toMatchObject({
      behaviorPrompt: 'Think.',
      mutationSettings: { mode: 'ai', behaviorPrompt: 'Think.' },
    });
    expect(toDefinition({ ...stored, mutationSettings: null }).mutationSettings).toBeNull();
  });
});
