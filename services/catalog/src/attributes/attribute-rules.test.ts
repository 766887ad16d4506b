import { describe, expect, it } from 'vitest';
import { changedBy, definedBy } from './attribute-rules.js';

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
    });
  });
});
