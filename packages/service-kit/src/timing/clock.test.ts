import { describe, expect, it } from 'vitest';
import { timestampOf } from './clock.js';

describe('timestampOf', () => {
  it('gives each time its own text, whatever came before', () => {
    const times = [0, 1, 1, 0, 1_700_000_000_123, 1_700_000_000_124, 1_700_000_000_123];
    expect(times.map(timestampOf)).toEqual(times.map((ms) => new Date(ms).toISOString()));
  });
});
