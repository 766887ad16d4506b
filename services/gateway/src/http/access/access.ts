import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Bus } from '@orrery/bus';
import { type Access, keysRevoked, ServiceError } from '@orrery/contracts';
import { toServiceError } from '@orrery/database';
import { type Clock, createBatcher, type Logger, type Resources, startPollLoop } from '@orrery/service-kit';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type ClaimedToken, parseToken } from '../../core/keys/key-token.js';
import type { Principal } from '../../core/requests/operation.js';
import { loadUsableKeys, recordUses, type UsableKey } from '../../store/keys/key-store.js';
import type { Db } from '../../store/tables/schema.js';

/** The gateway's half of access: the key and its scope. The service that owns the row checks the relation. */
export function requireAccess({ scope, relation }: Access, keys: KeyVerifier): onRequestHookHandler[] {
  if (relation === 'public') return [];
  return [
    // With `done`, which saves each request a promise for this hook.
    (request, _reply, done) => {
      keys.verify(bearerToken(request.raw), request.raw.socket).then((principal) => {
        (request as Carrier).principal = principal;
        done(refusalOf(principal, scope));
      }, failClosed(done));
    },
  ];
}

function refusalOf({ scopes }: Principal, scope: Access['scope']): ServiceError | undefined {
  if (scope === 'none' || scopes.includes(scope)) return undefined;
  return new ServiceError('forbidden', `The key lacks the scope "${scope}".`);
}

/** What a guard with `done` does with a rejection. Without an error `done` would let the request pass. */
export const failClosed =
  (done: (error: Error) => void) =>
  (error: unknown): void =>
    done(error instanceof Error ? error : new ServiceError('internal', undefined, { cause: error }));

/** Read as a plain property: the framework's `getDecorator` looks up the name each time. */
type Carrier = FastifyRequest & { principal: Principal | undefined };

/** Adds the property that holds the principal to every request. */
export const declarePrincipal = (app: FastifyInstance): void =>
  void app.decorateRequest('principal', undefined);

/** Whose key was presented; undefined on public routes and before the key was verified. */
export const principalOf = (request: FastifyRequest): Principal | undefined => (request as Carrier).principal;

const AUTHORIZATION = 'authorization';
const BEARER = /^Bearer +(\S{1,256})$/i;

/**
 * The token of `Authorization: Bearer …` (RFC 6750 §2.1).
 *
 * @throws ServiceError `unauthorized` without a token, or with two, which a proxy and this service might read differently.
 */
export function bearerToken({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) throw new ServiceError('unauthorized', 'Send Authorization: Bearer <API key>.');
  if (countOf(AUTHORIZATION, rawHeaders) > 1)
    throw new ServiceError('unauthorized', 'Send only one Authorization header.');
  return token;
}

/** How often a header was sent; the names have the even indexes. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at];
    if (given?.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
}

export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

interface KeyVerifierOptions {
  /** One query for many keys; what is absent may not be used. */
  loadUsable: (keyIds: string[]) => Promise<Map<string, UsableKey>>;
  clock: Clock;
  onUse?: (keyId: string, at: number) => void;
  /** How old a check may be, in milliseconds: the time after which a revocation applies everywhere. */
  maxAgeMs?: number;
  maxKeys?: number;
}

interface CheckedKey extends UsableKey {
  principal: Principal;
  /** When the query was sent, not when it was answered; by the monotonic clock, as `usedAt`. */
  checkedAt: number;
  usedAt: number;
}

/** So many keys, the latest ones, are kept fresh while their clients pause for so long (ms), as people do. */
const KEPT_FRESH = 1000;
const PAUSE_MS = 10_000;

const unauthorized = (detail: string) => new ServiceError('unauthorized', detail);

/**
 * Verifies tokens in memory. A check is valid for `maxAgeMs`. Keys in use are checked again in the background, so a lost
 * revocation message delays the revocation by at most that time, and access ends when the database is unavailable.
 */
export function createKeyVerifier(options: KeyVerifierOptions) {
  const { clock, maxAgeMs = 1000, maxKeys = 50_000 } = options;
  const checked = new LRUCache<string, CheckedKey>({ max: maxKeys });

  const check = async (keyIds: readonly string[]) => {
    const checkedAt = clock.monotonic();
    const found = await options.loadUsable([...keyIds]);
    return keyIds.map((keyId) => {
      const usable = found.get(keyId);
      if (usable === undefined) {
        checked.delete(keyId);
        return undefined;
      }
      const usedAt = checked.peek(keyId)?.usedAt ?? checkedAt;
      const key = { ...usable, principal: principalOfKey(usable), checkedAt, usedAt };
      checked.set(keyId, key);
      return key;
    });
  };
  const load = createBatcher({ maxBatch: 500, maxWaiting: 5000, load: check });
  const presented = new WeakMap<object, { readonly token: string; readonly claimed: ClaimedToken }>();
  /** A connection presents one token again and again: it is hashed once. */
  const claimOf = (token: string, connection: object): ClaimedToken | undefined => {
    const last = presented.get(connection);
    if (last?.token === token) return last.claimed;
    const claimed = parseToken(token);
    if (claimed !== undefined) presented.set(connection, { token, claimed });
    return claimed;
  };

  return {
    /**
     * `connection`: the socket that the token came by.
     *
     * @throws ServiceError `unauthorized`; `unavailable` or `overloaded` when the key cannot be looked up.
     */
    verify: async (token: string, connection: object): Promise<Principal> => {
      const claimed = claimOf(token, connection);
      if (claimed === undefined) throw unauthorized('The token is not an Orrery API key.');
      const at = clock.monotonic();
      const known = checked.get(claimed.keyId);
      const isFresh = known !== undefined && at - known.checkedAt <= maxAgeMs;
      const key = isFresh ? known : await load(claimed.keyId);
      if (key === undefined || !timingSafeEqual(key.hash, claimed.hash))
        throw unauthorized('The token is not valid.');
      const now = clock.now();
      if (key.expiresAt !== null && key.expiresAt <= now) throw unauthorized('The token has expired.');
      const entry = checked.peek(key.keyId);
      if (entry !== undefined) entry.usedAt = at;
      options.onUse?.(key.keyId, now);
      return key.principal;
    },
    /** After a revocation: the next verification reads the database. */
    forget: (keyIds: readonly string[]) => {
      for (const keyId of keyIds) checked.delete(keyId);
    },
    /** Checks the keys in use again, in one batch. If it is called often enough, no request waits for the database. */
    refresh: async () => {
      const now = clock.monotonic();
      const isInUse = ({ usedAt }: CheckedKey, rank: number) =>
        now - usedAt <= (rank < KEPT_FRESH ? PAUSE_MS : 2 * maxAgeMs);
      // Each that is checked becomes the latest one of the cache: the order stays when the last ones are checked first.
      const inUse = [...checked.values()]
        .filter(isInUse)
        .map((key) => key.keyId)
        .reverse();
      for (let start = 0; start < inUse.length; start += 1000) await check(inUse.slice(start, start + 1000));
    },
  };
}

export const principalOfKey = ({ accountId, keyId, scopes }: Omit<Principal, 'caller'>): Principal => ({
  accountId,
  keyId,
  scopes,
  caller: { kind: 'account', accountId, scopes: [...scopes] },
});

/** Beyond this many keys between two writes, new ones are not noted. */
const MAX_NOTED = 100_000;

/** When keys were used last, collected in memory and written every ten seconds: no request waits for it. */
export function createLastUses(record: (uses: ReadonlyMap<string, number>) => Promise<void>) {
  let noted = new Map<string, number>();
  const note = (keyId: string, at: number) => {
    if (noted.size < MAX_NOTED || noted.has(keyId)) noted.set(keyId, at);
  };
  return {
    note,
    /** Writes what has come since the last time; what could not be written is kept. */
    flush: async () => {
      if (noted.size === 0) return;
      const batch = noted;
      noted = new Map();
      await record(batch).catch((error: unknown) => {
        for (const [keyId, at] of batch) if (!noted.has(keyId)) note(keyId, at);
        throw error;
      });
    },
  };
}

/** Well within the second for which a check holds, so that keys in use are always fresh. */
const REFRESH_MS = 400;
const WRITE_MS = 10_000;

interface KeysContext {
  db: Db;
  bus: Pick<Bus, 'listen'>;
  clock: Clock;
  logger: Logger;
  resources: Resources;
}

/**
 * Starts verification with its refresh, the revocations of other gateways and the writing of last uses; all of it ends with
 * the resources.
 */
export async function startKeyVerifier({
  db,
  bus,
  clock,
  logger,
  resources,
}: KeysContext): Promise<KeyVerifier> {
  const uses = createLastUses((batch) => recordUses(db, batch));
  resources.add('last uses of keys', uses.flush);
  const loadUsable = (keyIds: string[]) =>
    loadUsableKeys(db, keyIds).catch((error: unknown) => Promise.reject(toServiceError(error)));
  const keys = createKeyVerifier({ clock, onUse: uses.note, loadUsable });
  const repeat = (name: string, intervalMs: number, runOnce: () => Promise<void>) =>
    resources.add(name, startPollLoop({ name, intervalMs, runOnce, clock, logger }).stop);
  repeat('last uses of keys', WRITE_MS, uses.flush);
  repeat('key refresh', REFRESH_MS, keys.refresh);
  const listening = new AbortController();
  resources.add('key revocations', () => listening.abort());
  await bus.listen(keysRevoked, ({ keyIds }) => keys.forget(keyIds), listening.signal);
  return keys;
}

/** Whose key a token is, at once and without a cache; undefined for one that is not valid (any more). */
export async function accountOfToken(db: Db, token: string, now = Date.now()): Promise<number | undefined> {
  const claimed = parseToken(token);
  if (claimed === undefined) return undefined;
  const key = (await loadUsableKeys(db, [claimed.keyId])).get(claimed.keyId);
  const isValid = key?.hash.equals(claimed.hash) === true && (key.expiresAt === null || key.expiresAt > now);
  return isValid ? key.accountId : undefined;
}
