import type { Caller } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { isOwner, isVisible, requireAccount } from './worlds.js';

const account = (accountId: number): Caller => ({ kind: 'account', accountId, scopes: ['read'] });
const anonymous: Caller = { kind: 'anonymous' };
const world = (is_public: boolean) => ({ owner_account_id: 1, is_public });

describe('a world', () => {
  it('belongs to the account that made it', () => {
    expect(isOwner(world(true), account(1))).toBe(true);
    expect(isOwner(world(true), account(2))).toBe(false);
    expect(isOwner(world(true), anonymous)).toBe(false);
  });

  it('is visible to its owner, and once published to every account', () => {
    expect(isVisible(world(false), account(1))).toBe(true);
    expect(isVisible(world(false), account(2))).toBe(false);
    expect(isVisible(world(true), account(2))).toBe(true);
    expect(isVisible(world(true), anonymous)).toBe(false);
  });
});

describe('requireAccount', () => {
  it('gives the account that calls', () => {
    expect(requireAccount(account(7))).toBe(7);
  });

  it('refuses who has none', () => {
    expect(() => requireAccount(anonymous)).toThrow(expect.objectContaining({ code: 'unauthorized' }));
  });
});
