import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newToken } from '../../core/keys/key-token.js';
import type { UsableKey } from '../../store/keys/key-store.js';
import { createKeyVerifier } from './access.js';

function setUp() {
  let now = 1_000_000;
  let setBy = 0;
  const clock = { now: () => now + setBy, monotonic: () => now, sleep: async () => undefined };
  const stored = new Map<string, UsableKey>();
  const queries: string[][] = [];
  const verifier = createKeyVerifier({
    clock,
    loadUsable: async (keyIds) => {
      queries.push(keyIds);
      return new Map(keyIds.flatMap((id) => (stored.has(id) ? [[id, stored.get(id) as UsableKey]] : [])));
    },
  });
  const add = (more: Partial<UsableKey> = {}) => {
    const { keyId, token, hash } = newToken(randomBytes);
    stored.set(keyId, { keyId, hash, accountId: 7, scopes: ['read'], expiresAt: null, ...more });
    return { keyId, token };
  };
  const set = (byMs: number) => {
    setBy += byMs;
  };
  const connection = {};
  const verify = (token: string) => verifier.verify(token, connection);
  return {
    ...verifier,
    verify,
    stored,
    queries,
    add,
    set,
    pass: (ms: number) => (now += ms),
    now: () => now,
  };
}

describe('key verifier', () => {
  it('reads the database once for many requests', async () => {
    const { verify, queries, add } = setUp();
    const { token, keyId } = add();
    for (let i = 0; i < 5; i += 1)
      expect(await verify(token)).toEqual({
        accountId: 7,
        keyId,
        scopes: ['read'],
        caller: { kind: 'account', accountId: 7, scopes: ['read'] },
      });
    expect(queries).toEqual([[keyId]]);
  });

  it('lets a revoked key pass no longer than that when the clock is set back', async () => {
    const { verify, stored, add, pass, set } = setUp();
    const { token, keyId } = add();
    await verify(token);
    stored.delete(keyId);
    set(-600_000);
    pass(1001);
    await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('lets a revoked key pass no longer than the maximum age', async () => {
    const { verify, stored, add, pass } = setUp();
    const { token, keyId } = add();
    await verify(token);
    stored.delete(keyId);
    pass(1001);
    await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('forgets revoked keys at once', async () => {
    const { verify, forget, stored, add } = setUp();
    const { token, keyId } = add();
    await verify(token);
    stored.delete(keyId);
    forget([keyId]);
    await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('makes no request wait while its key is refreshed in the background', async () => {
    const { verify, refresh, queries, add, pass } = setUp();
    const { token } = add();
    await verify(token);
    for (let i = 0; i < 5; i += 1) {
      pass(900);
      await refresh();
      await verify(token);
    }
    expect(queries).toHaveLength(1 + 5);
  });

  it('keeps a key fresh through a pause, and stops when it is not used any more', async () => {
    const { verify, refresh, queries, add, pass } = setUp();
    const { token } = add();
    await verify(token);
    pass(10_000);
    await refresh();
    await verify(token);
    expect(queries).toHaveLength(2);
    pass(10_001);
    await refresh();
    expect(queries).toHaveLength(2);
  });

  it('keeps fewer fresh through a pause than may be in use at once', async () => {
    const { verify, refresh, queries, add, pass } = setUp();
    const keys = Array.from({ length: 1001 }, add);
    for (const { token } of keys) await verify(token);
    for (const ms of [0, 0, 2001]) {
      pass(ms);
      await refresh();
    }
    expect(new Set(queries.at(-1))).toEqual(new Set(keys.slice(1).map(({ keyId }) => keyId)));
  });

  it('refuses another secret under a known key id', async () => {
    const { verify, stored, add } = setUp();
    const { keyId, token } = add();
    await verify(token);
    const other = newToken(randomBytes);
    stored.set(other.keyId, { ...(stored.get(keyId) as UsableKey), keyId: other.keyId });
    await expect(verify(other.token)).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(verify(token)).resolves.toMatchObject({ keyId });
  });

  it('refuses expired keys, also cached ones', async () => {
    const { verify, add, pass, now } = setUp();
    const { token } = add({ expiresAt: now() + 500 });
    await verify(token);
    pass(500);
    await expect(verify(token)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  it('does not look up what cannot be a token', async () => {
    const { verify, queries } = setUp();
    await expect(verify('orrery_guess')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(queries).toEqual([]);
  });
});
