import { describe, expect, it } from 'vitest';
import { expiryOf, refuseLongerLife, refuseWiderScopes } from './key-token.js';

const principal = {
  accountId: 1,
  keyId: 'k',
  scopes: ['read', 'keys'] as const,
  caller: { kind: 'anonymous' } as const,
};
const until = (day: string | null) => (day === null ? null : new Date(`${day}T00:00:00Z`));

describe('a key that makes another', () => {
  it('gives no scope that it lacks', () => {
    expect(() => refuseWiderScopes(principal, ['read'])).not.toThrow();
    expect(() => refuseWiderScopes(principal, ['read', 'write', 'execute'])).toThrow(
      /scopes: write, execute/,
    );
  });

  it.each([
    ['2026-12-01', '2026-12-01', true],
    ['2026-12-01', '2026-11-30', true],
    ['2026-12-01', '2026-12-02', false],
    ['2026-12-01', null, false],
    [null, null, true],
    [null, '2030-01-01', true],
  ])('that ends %s may make one that ends %s: %s', (own, made, allowed) => {
    const check = () => refuseLongerLife({ expires_at: until(own) }, until(made));
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow(/ends at 2026-12-01/);
  });

  it('takes an expiry that lies ahead', () => {
    const now = Date.parse('2026-11-23T00:00:00Z');
    expect(expiryOf(undefined, now)).toBeUndefined();
    expect(expiryOf('2026-11-23T00:00:01Z', now)?.getTime()).toBe(now + 1000);
    expect(() => expiryOf('2026-11-23T00:00:00Z', now)).toThrow(
      '/expiresAt: The time of expiry must be in the f',
    );
  });

  it('takes an expiry that can be told by RFC 3339', () => {
    const last = '9999-12-31T23:59:59.999Z';
    expect(expiryOf(last, 0)?.toISOString()).toBe(last);
    for (const later of ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999-00:01'])
      expect(() => expiryOf(later, 0)).toThrow('/expiresAt: The time of expiry must be in the year 9999');
  });
});
