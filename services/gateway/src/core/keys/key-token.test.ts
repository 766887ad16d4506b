import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newToken, parseToken, TOKEN_PATTERN } from './key-token.js';

describe('tokens', () => {
  it('have one fixed shape, whatever the random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const made = newToken((count) => Buffer.from(bytes.subarray(0, count)));
        expect(made.token).toMatch(TOKEN_PATTERN);
        expect(parseToken(made.token)).toEqual({ keyId: made.keyId, hash: made.hash });
      }),
    );
  });

  it('refuse a changed letter by their checksum', () => {
    const { token } = newToken(randomBytes);
    const changed = token.replace(/.(.{10})$/, (all, rest: string) =>
      all.startsWith('a') ? `b${rest}` : `a${rest}`,
    );
    expect(parseToken(changed)).toBeUndefined();
  });

  it('refuse everything else', () => {
    const { token } = newToken(randomBytes);
    for (const text of [
      '',
      'orrery_',
      token.slice(1),
      `${token}0`,
      ` ${token}`,
      token.toUpperCase(),
      'x'.repeat(10_000),
    ])
      expect(parseToken(text)).toBeUndefined();
  });

  it('differ each time', () => {
    expect(newToken(randomBytes).token).not.toBe(newToken(randomBytes).token);
  });
});
