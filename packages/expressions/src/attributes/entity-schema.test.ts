import type { JsonObject, JsonValue } from '@orrery/contracts';
import { cpuMs } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { type AttributeShape, applyDefaults, checkState, compileEntitySchema } from './attribute.js';

const horse = compileEntitySchema([
  { name: 'name', type: 'string', constraints: { required: true, pattern: '^[A-Z]' } },
  { name: 'wins', type: 'integer', constraints: { min: 0, required: true }, defaultValue: 0 },
  { name: 'speed', type: 'float', constraints: { max: 100 } },
  { name: 'mood', type: 'string', constraints: { enum: ['calm', 'wild'] } },
  { name: 'gear', type: 'json', defaultValue: { saddle: [] } },
  { name: 'retired', type: 'boolean' },
]);

describe('defaults', () => {
  it('fill in what is absent, and only that', () => {
    const state = { name: 'Bella', wins: null, other: 1 };
    expect(applyDefaults(horse, state)).toEqual({ ...state, gear: { saddle: [] } });
    expect(state).toEqual({ name: 'Bella', wins: null, other: 1 });
  });

  it('answer the state itself when nothing is missing', () => {
    const state = { wins: 1, gear: null };
    expect(applyDefaults(horse, state)).toBe(state);
  });

  it('cannot be changed through a state that has them', () => {
    const first = applyDefaults(horse, {})['gear'] as { saddle: number[] };
    expect(() => first.saddle.push(1)).toThrow(TypeError);
    expect(applyDefaults(horse, {})['gear']).toEqual({ saddle: [] });
  });
});

describe('checking', () => {
  it.each<JsonObject>([
    { name: 'Bella', wins: 0 },
    { name: 'Bella', wins: 3, speed: 99.5, mood: 'wild', gear: null, retired: true, unnamed: { any: 1 } },
    { name: 'Bella', wins: 0, speed: null, mood: null, retired: null },
  ])('accepts %j', (state) => {
    expect(checkState(horse, state)).toEqual([]);
  });

  it.each<[string, JsonValue | undefined, string]>([
    ['name', undefined, 'required'],
    ['name', null, 'required'],
    ['name', 'bella', 'pattern_mismatch'],
    ['name', 5, 'wrong_type'],
    ['wins', 1.5, 'wrong_type'],
    ['wins', 2 ** 53, 'wrong_type'],
    ['wins', -1, 'out_of_range'],
    ['wins', '1', 'wrong_type'],
    ['speed', 101, 'out_of_range'],
    ['speed', true, 'wrong_type'],
    ['mood', 'sad', 'not_allowed'],
    ['retired', 'no', 'wrong_type'],
  ])('%s: %j is %s', (name, value, code) => {
    const state: JsonObject = { name: 'Bella', wins: 0 };
    if (value === undefined) delete state[name];
    else state[name] = value;
    expect(checkState(horse, state)).toEqual([{ pointer: `/${name}`, code, message: expect.any(String) }]);
  });

  it('points to names as RFC 6901 says', () => {
    const schema = compileEntitySchema([{ name: 'a/b~c', type: 'integer' }]);
    expect(checkState(schema, { 'a/b~c': 'x' })).toMatchObject([{ pointer: '/a~1b~0c' }]);
  });

  it('stays quick with patterns that are not', () => {
    const slow: AttributeShape[] = Array.from({ length: 60 }, (_, i) => ({
      name: `a${i}`,
      type: 'string',
      constraints: { pattern: '\\p{L}{900}' },
    }));
    const schema = compileEntitySchema(slow);
    const state = Object.fromEntries(slow.map(({ name }) => [name, 'ab'.repeat(380)]));
    const check = () =>
      expect(checkState(schema, state)).toContainEqual(expect.objectContaining({ code: 'too_complex' }));
    expect(cpuMs(check)).toBeLessThan(1_000);
  });
});
