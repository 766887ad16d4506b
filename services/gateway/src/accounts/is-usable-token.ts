import type { Kysely } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import { parseToken } from './key-format.js';
import { loadUsableKeys } from './key-store.js';

/** Whether this database takes the token now, straight from its rows: for start-up, not for requests. */
export async function isUsableToken(
  db: Kysely<GatewaySchema>,
  token: string,
  now = Date.now(),
): Promise<boolean> {
  const claimed = parseToken(token);
  if (claimed === undefined) return false;
  const key = (await loadUsableKeys(db, [claimed.keyId])).get(claimed.keyId);
  return key?.hash.equals(claimed.hash) === true && (key.expiresAt === null || key.expiresAt > now);
}
