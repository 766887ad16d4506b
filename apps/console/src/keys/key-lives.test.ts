import { describe, expect, it } from 'vitest';
import { endOf, livesFor, outlives } from './new-key.js';

const now = Date.parse('2026-11-23T12:00:00.000Z');
const inTenHours = '2026-11-23T22:00:00.000Z';
const inAMonth = '2026-12-31T00:00:00.000Z';

const choices = (end: string | null, canSign = false) => livesFor(end, canSign, now).map(([life]) => life);

describe('the lives of a new key', () => {
  it('are all that there are where the key of the session has no end', () => {
    expect(choices(null)).toEqual(['1', '30', '365', 'ever']);
  });

  it('end with the session at the latest, unless a wallet signs', () => {
    expect(choices(inTenHours)).toEqual(['session']);
    expect(choices(inAMonth)).toEqual(['session', '1', '30']);
    expect(choices(inTenHours, true)).toEqual(['session', '1', '30', '365', 'ever']);
  });

  it('say which of them the session cannot make', () => {
    expect(['session', '1', 'ever'].map((life) => outlives(life as never, inTenHours, now))).toEqual([
      false,
      true,
      true,
    ]);
    expect(outlives('ever', null, now)).toBe(false);
  });

  it('have an end in days, or none that is to be said', () => {
    expect(endOf('1', now)).toBe('2026-11-24T12:00:00.000Z');
    expect([endOf('ever', now), endOf('session', now)]).toEqual([undefined, undefined]);
  });
});
