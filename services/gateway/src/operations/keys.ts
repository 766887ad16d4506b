import type { Bus } from '@orrery/bus';
import { keysRevoked, type PageQuery, paginationOf, refuseDeepPage, ServiceError } from '@orrery/contracts';
import type { Clock, Logger } from '@orrery/service-kit';
import { expiryOf } from '../core/keys/key-token.js';
import type { GatewayCall, IdentityHandlers, Principal } from '../core/requests/operation.js';
import type { KeyVerifier } from '../http/access/access.js';
import { accountRecordOf, findAccount } from '../store/accounts/account-store.js';
import {
  countKeys,
  createKeyBy,
  findExpiry,
  keyRecordOf,
  listKeyRows,
  revokeKey,
  rotateKey,
} from '../store/keys/key-store.js';
import type { Db } from '../store/tables/schema.js';

export interface KeyContext {
  db: Db;
  bus: Pick<Bus, 'broadcast'>;
  keys: KeyVerifier;
  clock: Clock;
  logger: Logger;
}

type KeyHandlers = Pick<IdentityHandlers, Extract<keyof IdentityHandlers, `keys.${string}` | 'accounts.me'>>;

/** Answers the operations on the caller's own account and its keys. */
export const keyHandlers = (context: KeyContext): KeyHandlers => ({
  'accounts.me': async (_request, call) => ({ data: await whoIs(context, ownerOf(call)) }),
  'keys.list': (request, call) => listKeys(context.db, ownerOf(call).accountId, request.query),
  'keys.create': async ({ body }, call) => {
    const expiresAt = expiryOf(body.expiresAt, context.clock.now());
    const { name, scopes } = body;
    return { data: await createKeyBy(context.db, ownerOf(call), { name, scopes, expiresAt }) };
  },
  'keys.rotate': async ({ params, query }, call) => {
    const rotation = { keyId: params.id, graceSeconds: query.graceSeconds ?? 0 };
    const data = await rotateKey(context.db, ownerOf(call), rotation);
    await forgetEverywhere(context, [params.id]);
    return { data };
  },
  'keys.revoke': async ({ params }, call) => {
    const revoked = await revokeKey(context.db, ownerOf(call).accountId, params.id);
    if (revoked.length === 0) throw new ServiceError('key_not_found');
    await forgetEverywhere(context, revoked);
    return { data: { deleted: true } };
  },
});

/** The guards let the call pass only with a key. */
function ownerOf({ principal }: GatewayCall): Principal {
  if (principal === undefined) throw new ServiceError('unauthorized');
  return principal;
}

/** A page of an account's keys. @throws ServiceError `page_too_deep`. */
export async function listKeys(db: Db, accountId: number, query: PageQuery) {
  refuseDeepPage(query);
  const [rows, total] = await Promise.all([listKeyRows(db, accountId, query), countKeys(db, accountId)]);
  return { data: rows.map(keyRecordOf), pagination: paginationOf(query, total) };
}

async function whoIs({ db }: KeyContext, principal: Principal) {
  const account = await findAccount(db, principal.accountId);
  if (account === undefined) throw new ServiceError('account_not_found');
  const key = await findExpiry(db, principal.keyId);
  const expiresAt = key?.expires_at?.toISOString() ?? null;
  return {
    account: accountRecordOf(account),
    key: { id: principal.keyId, scopes: [...principal.scopes], expiresAt },
  };
}

/** The revocation is committed; a broadcast that fails costs the other gateways at most a second. */
async function forgetEverywhere({ bus, keys, logger }: KeyContext, keyIds: string[]): Promise<void> {
  keys.forget(keyIds);
  await bus
    .broadcast(keysRevoked, { keyIds })
    .catch((error: unknown) =>
      logger.warn({ err: error }, 'key revocation broadcast failed; other gateways follow within a second'),
    );
}
