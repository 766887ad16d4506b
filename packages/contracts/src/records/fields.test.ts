import { describe, expect, it } from 'vitest';
import { instanceId } from '../names/names.js';
import { newInstance } from '../runtime/instances.js';
import { withNfcKeys } from './fields.js';

const composed = 'Zo\u00eb';
const decomposed = 'Zoe\u0308';

describe('Unicode normal form NFC', () => {
  it('is given to the keys of an object, not to its values', () => {
    expect(withNfcKeys({ [decomposed]: { [decomposed]: decomposed } })).toEqual({
      [composed]: { [decomposed]: decomposed },
    });
    const inForm = { [composed]: 1 };
    expect(withNfcKeys(inForm)).toBe(inForm);
  });

  it('joins no two keys', () => {
    expect(withNfcKeys({ [composed]: 1, [decomposed]: 2 })).toBeUndefined();
  });
});

describe('an instance as it is sent', () => {
  const horse = { entitySchema: 'horse', instanceId: 'H1' };

  it('has its id and the names of its attributes in NFC', () => {
    expect(newInstance.parse({ ...horse, instanceId: decomposed, state: { [decomposed]: 1 } })).toEqual({
      ...horse,
      instanceId: composed,
      state: { [composed]: 1 },
    });
  });

  it('has no attribute twice', () => {
    const state = { [composed]: 1, [decomposed]: 2 };
    expect(newInstance.safeParse({ ...horse, state }).success).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'prototype', '.', '..', ''])('is not called %j', (id) => {
    expect(instanceId.safeParse(id).success).toBe(false);
  });
});
