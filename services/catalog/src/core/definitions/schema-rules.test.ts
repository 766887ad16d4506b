import { describe, expect, it } from 'vitest';
import type { CatalogLimits } from '../limits.js';
import {
  attributesOf,
  changedBy,
  checkAttribute,
  definedBy,
  refuseCostlyPatterns,
  refuseManyIndexed,
  refuseOversizedSchema,
  schemaHash,
  toDefinition,
} from './schema-rules.js';

const limits = { attributesPerSchema: 2, schemaBytes: 200 } as CatalogLimits;
const wins = { name: 'wins', type: 'integer' as const };
const refused = (code: string) => expect.objectContaining({ code });

describe('attributes', () => {
  const current = definedBy({
    name: 'wins',
    type: 'integer',
    constraints: { min: 0, max: 9 },
    defaultValue: 0,
  });

  it('mean the same with a member absent or null', () => {
    expect(definedBy({ name: 'a', type: 'json' })).toEqual(
      definedBy({ name: 'a', type: 'json', constraints: null, defaultValue: null }),
    );
  });

  it('keep what a change does not name', () => {
    expect(changedBy(current, {})).toEqual(current);
    expect(changedBy(current, { name: 'losses' })).toEqual({ ...current, name: 'losses' });
  });

  it('take constraints whole and lose what is null', () => {
    expect(changedBy(current, { constraints: { required: true } }).constraints).toEqual({ required: true });
    expect(changedBy(current, { constraints: null, defaultValue: null })).toEqual({
      name: 'wins',
      type: 'integer',
      constraints: null,
      defaultValue: null,
      indexed: false,
    });
  });
});

describe('an indexed attribute', () => {
  const indexed = definedBy({ ...wins, indexed: true });

  it('stays indexed until a change says otherwise, and is no other definition', () => {
    expect(changedBy(indexed, { name: 'victories' }).indexed).toBe(true);
    expect(changedBy(indexed, { indexed: false }).indexed).toBe(false);
    expect(toDefinition(indexed)).toEqual(toDefinition(definedBy(wins)));
  });

  it('is one of four in its schema at most', () => {
    const named = (name: string) => ({ ...indexed, name });
    expect(() => refuseManyIndexed([...'abcd'].map(named))).not.toThrow();
    expect(() => refuseManyIndexed([...'abcde'].map(named))).toThrow(refused('limit_reached'));
  });
});

describe('checkAttribute', () => {
  it('refuses a default outside the bounds', () => {
    const definition = definedBy({ ...wins, constraints: { min: 1 }, defaultValue: 0 });
    expect(() => checkAttribute(definition)).toThrow(refused('validation_failed'));
    expect(() => checkAttribute({ ...definition, defaultValue: 1 })).not.toThrow();
  });

  it('bounds what a pattern takes to compile, unless it is saved already', () => {
    const name = { name: 'text', type: 'string' as const };
    const saved = definedBy({
      ...name,
      constraints: { pattern: '^[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ]{0,580}$' },
    });
    const other = definedBy({
      ...name,
      constraints: { pattern: '^[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ]{0,581}$' },
    });
    expect(() => checkAttribute(saved)).toThrow(refused('validation_failed'));
    expect(() => checkAttribute({ ...saved, indexed: true }, saved)).not.toThrow();
    expect(() => checkAttribute(other, saved)).toThrow(refused('validation_failed'));
  });
});

describe('the attributes of a new schema', () => {
  it('are checked, with pointers into the body', () => {
    expect(attributesOf([wins], limits)).toEqual([definedBy(wins)]);
    const errors = [expect.objectContaining({ pointer: '/attributes/0/constraints/min' })];
    const wrong = { ...wins, constraints: { min: 2, max: 1 } };
    expect(() => attributesOf([wrong], limits)).toThrow(expect.objectContaining({ errors }));
  });

  it('have different names', () => {
    expect(() => attributesOf([wins, wins], limits)).toThrow(refused('attribute_exists'));
  });

  it('keep to the limits of number and size', () => {
    const three = ['a', 'b', 'c'].map((name) => ({ ...wins, name }));
    expect(() => attributesOf(three, limits)).toThrow(refused('limit_reached'));
    const large = definedBy({ name: 'note', type: 'string', defaultValue: 'x'.repeat(200) });
    expect(() => refuseOversizedSchema([large], limits)).toThrow(refused('validation_failed'));
    expect(() => refuseOversizedSchema([definedBy(wins)], limits)).not.toThrow();
  });
});

describe('schemaHash', () => {
  it('covers the name and the attributes in their order', () => {
    const [a, b] = [definedBy(wins), definedBy({ name: 'speed', type: 'float' })];
    const hashes = [schemaHash('x', [a, b]), schemaHash('x', [b, a]), schemaHash('y', [a, b])];
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('patterns that take long to compile together', () => {
  const named = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      name: `a${index}`,
      type: 'string' as const,
      constraints: { pattern: `^\\p{L}[\\p{L}\\p{N} '-]{0,63}$|^${index}$` },
      defaultValue: null,
    }));

  it('are refused where a change adds one', () => {
    expect(() => refuseCostlyPatterns(named(100), named(99))).toThrow(/too complex together/);
    expect(() => refuseCostlyPatterns(named(5), named(4))).not.toThrow();
  });

  it('stay where a change adds none', () => {
    expect(() => refuseCostlyPatterns(named(99), named(100))).not.toThrow();
  });
});
