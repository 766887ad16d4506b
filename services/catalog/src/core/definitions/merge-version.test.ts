import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeVersion } from './merge-version.js';
import { EMPTY_VERSION, type StoredVersion } from './stored-version.js';

const direct: StoredVersion = {
  ...EMPTY_VERSION,
  inputSchema: { id: 'string' },
  stateChanges: { horse: 'partial' },
  behaviorPrompt: 'Think.',
  mutationSettings: { mode: 'direct', template: { a: 1 } },
  executionSettings: { visibility: 'cron', priceUsd: 1, cron: { schedule: '* * * * *', timezone: 'UTC' } },
};

describe('mergeVersion', () => {
  it('changes nothing for an empty patch', () => {
    expect(mergeVersion(direct, {})).toEqual(direct);
    expect(mergeVersion(EMPTY_VERSION, {})).toEqual(EMPTY_VERSION);
  });

  it('removes with null, and keeps the prompt when the settings go', () => {
    expect(
      mergeVersion(direct, { mutationSettings: null, executionSettings: null, inputSchema: null }),
    ).toEqual({
      ...direct,
      inputSchema: null,
      mutationSettings: null,
      executionSettings: null,
    });
    expect(mergeVersion(direct, { readEntities: null }).readEntities).toEqual([]);
  });

  it('merges the settings one level: what is below is replaced whole', () => {
    const merged = mergeVersion(direct, {
      mutationSettings: { template: { b: 2 } },
      executionSettings: { cron: { schedule: '0 9 * * *' } },
    });
    expect(merged.mutationSettings).toEqual({ mode: 'direct', template: { b: 2 } });
    expect(merged.executionSettings).toEqual({
      visibility: 'cron',
      priceUsd: 1,
      cron: { schedule: '0 9 * * *' },
    });
  });

  it('removes single members of the settings with null', () => {
    const merged = mergeVersion(direct, {
      mutationSettings: { template: null },
      executionSettings: { priceUsd: null, cron: null, payerMayCall: null, randomness: null },
    });
    expect(merged.mutationSettings).toEqual({ mode: 'direct' });
    expect(merged.executionSettings).toEqual({ visibility: 'cron' });
  });

  it('infers the mode from the template, and admin without visibility', () => {
    const sent = (mutationSettings: object) =>
      mergeVersion(EMPTY_VERSION, { mutationSettings, executionSettings: {} });
    expect(sent({ template: {} }).mutationSettings?.mode).toBe('direct');
    expect(sent({ behaviorPrompt: 'x' }).mutationSettings?.mode).toBe('ai');
    expect(sent({}).executionSettings).toEqual({ visibility: 'admin' });
  });

  it('merges the same patch twice as it does once', () => {
    const maybe = <T>(value: fc.Arbitrary<T>) =>
      fc.option(fc.option(value, { nil: null }), { nil: undefined });
    const patch = fc.record(
      {
        inputSchema: maybe(fc.constant({ a: 'string' })),
        stateChanges: maybe(fc.constant({ horse: 'full' as const })),
        behaviorPrompt: maybe(fc.string()),
        mutationSettings: maybe(fc.record({ template: maybe(fc.constant({})) }, { requiredKeys: [] })),
        executionSettings: maybe(fc.record({ priceUsd: maybe(fc.nat()) }, { requiredKeys: [] })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(patch, fc.constantFrom(direct, EMPTY_VERSION), (sent, current) => {
        const once = mergeVersion(current, sent);
        expect(mergeVersion(once, sent)).toEqual(once);
      }),
    );
  });
});
