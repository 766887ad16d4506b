import { type CreatedKey, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { Kysely } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import type { Principal } from '../operations/operation.js';
import { addKey, addKeyWithinLimit, lockMaker } from './create-key.js';
import { refuseLongerLife, refuseWiderScopes } from './key-rules.js';
import { expireKeyRow, findKey, giveMadeKeys, revokeKeyRow } from './key-store.js';

export interface Rotation {
  keyId: string;
  /** Seconds that the old key goes on working; 0 revokes it at once. */
  graceSeconds: number;
}

/**
 * Replaces a key by a new one of the same name, scopes and expiry, which takes over what the old one made. The key of the
 * request makes the new one, since whoever holds it sees the token, unless it replaces itself.
 *
 * @throws ServiceError `key_not_found`, `forbidden`, `limit_reached` where the old key stays for a while.
 */
export const rotateKey = (
  db: Kysely<GatewaySchema>,
  principal: Principal,
  { keyId, graceSeconds }: Rotation,
): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    const { accountId } = principal;
    const maker = await lockMaker(trx, principal);
    const old = await findKey(trx, accountId, keyId);
    if (old === undefined) throw new ServiceError('key_not_found');
    refuseWiderScopes(principal, old.scopes);
    refuseLongerLife(maker, old.expires_at);
    if (graceSeconds > 0) await expireKeyRow(trx, keyId, graceSeconds);
    else await revokeKeyRow(trx, keyId);
    const created = await (graceSeconds > 0 ? addKeyWithinLimit : addKey)(trx, accountId, {
      name: old.name,
      scopes: old.scopes,
      expiresAt: old.expires_at,
      madeBy: maker.id === keyId ? old.made_by : maker.id,
    });
    await giveMadeKeys(trx, { from: keyId, to: created.id });
    return created;
  });
