import { type CreatedKey, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { Kysely } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import type { Principal } from '../operations/operation.js';
import { addKey } from './create-key.js';
import { refuseWiderScopes } from './key-rules.js';
import { expireKeyRow, findKeyForUpdate, revokeKeyRow } from './key-store.js';

export interface Rotation {
  keyId: string;
  /** Seconds that the old key goes on working; 0 revokes it at once. */
  graceSeconds: number;
}

/** Replaces a key by a new one of the same name, scopes and expiry. @throws ServiceError `key_not_found`, `forbidden`. */
export const rotateKey = (
  db: Kysely<GatewaySchema>,
  principal: Principal,
  { keyId, graceSeconds }: Rotation,
): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    const old = await findKeyForUpdate(trx, principal.accountId, keyId);
    if (old === undefined) throw new ServiceError('key_not_found');
    refuseWiderScopes(principal, old.scopes);
    if (graceSeconds > 0) await expireKeyRow(trx, keyId, graceSeconds);
    else await revokeKeyRow(trx, principal.accountId, keyId);
    return await addKey(trx, principal.accountId, {
      name: old.name,
      scopes: old.scopes,
      expiresAt: old.expires_at,
    });
  });
