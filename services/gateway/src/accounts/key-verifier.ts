import { timingSafeEqual } from 'node:crypto';
import { type Scope, ServiceError } from '@orrery/contracts';
import { type Clock, createBatcher } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';
import { parseToken } from './key-format.js';
import type { Principal } from './principal.js';

/** A key as the database has it: neither revoked nor of a disabled account. */
export interface UsableKey {
  keyId: string;
  hash: Buffer;
  accountId: number;
  scopes: readonly Scope[];
  /** Ms since epoch. */
  expiresAt: number | null;
}

export interface KeyVerifier {
  /** @throws ServiceError `unauthorized`; `unavailable` or `overloaded` when the key cannot be looked up. */
  verify(token: string): Promise<Principal>;
  /** Revoked: asks the database the next time. */
  forget(keyIds: readonly string[]): void;
  /** Checks again, in one batch, the keys in use; called often enough, no request ever waits for the database. */
  refresh(): Promise<void>;
}

export interface KeyVerifierOptions {
  /** One query for many keys; what is absent may not be used. */
  loadUsable: (keyIds: string[]) => Promise<Map<string, UsableKey>>;
  clock: Clock;
  onUse?: (keyId: string, at: number) => void;
  /** How old a check may be, in milliseconds: the time within which a revocation holds everywhere. */
  maxAgeMs?: number;
  maxKeys?: number;
}

interface CheckedKey extends UsableKey {
  /** When the question was asked, not when it was answered. */
  checkedAt: number;
  usedAt: number;
}

const unauthorized = (detail: string) => new ServiceError('unauthorized', detail);

/**
 * Verifies tokens from memory. A check holds for `maxAgeMs`; keys that are in use are checked again in the background,
 * so a lost revocation message costs at most that time, and a database that is away ends access instead of freezing it.
 */
export function createKeyVerifier(options: KeyVerifierOptions): KeyVerifier {
  const { clock, maxAgeMs = 1000, maxKeys = 50_000 } = options;
  const checked = new LRUCache<string, CheckedKey>({ max: maxKeys });

  const check = async (keyIds: readonly string[]) => {
    const checkedAt = clock.now();
    const found = await options.loadUsable([...keyIds]);
    for (const keyId of keyIds) {
      const key = found.get(keyId);
      const usedAt = checked.peek(keyId)?.usedAt ?? checkedAt;
      if (key === undefined) checked.delete(keyId);
      else checked.set(keyId, { ...key, checkedAt, usedAt });
    }
    return keyIds.map((keyId) => found.get(keyId));
  };
  const load = createBatcher({ maxBatch: 500, maxWaiting: 5000, load: check });

  return {
    verify: async (token) => {
      const claimed = parseToken(token);
      if (claimed === undefined) throw unauthorized('The token is not one of ours');
      const now = clock.now();
      const known = checked.get(claimed.keyId);
      const isFresh = known !== undefined && now - known.checkedAt <= maxAgeMs;
      const key = isFresh ? known : await load(claimed.keyId);
      if (key === undefined || !timingSafeEqual(key.hash, claimed.hash))
        throw unauthorized('The token is not valid');
      if (key.expiresAt !== null && key.expiresAt <= now) throw unauthorized('The token has expired');
      const entry = checked.peek(key.keyId);
      if (entry !== undefined) entry.usedAt = now;
      options.onUse?.(key.keyId, now);
      return { accountId: key.accountId, keyId: key.keyId, scopes: key.scopes };
    },
    forget: (keyIds) => {
      for (const keyId of keyIds) checked.delete(keyId);
    },
    refresh: async () => {
      const since = clock.now() - 2 * maxAgeMs;
      const inUse = [...checked.values()].filter((key) => key.usedAt >= since).map((key) => key.keyId);
      for (let start = 0; start < inUse.length; start += 1000) await check(inUse.slice(start, start + 1000));
    },
  };
}
