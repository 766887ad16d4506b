import type { Caller } from '@orrery/contracts';
import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import type { WorldRow } from '../database/schema.js';
import { ownWorld } from './world-access.js';
import { countPublicWorlds } from './world-counters.js';
import { setWorldPublic } from './world-store.js';

/** Says who can read the world; starts and stops nothing. Idempotent. */
export async function setPublic(
  context: CatalogContext,
  trx: CatalogTransaction,
  segment: string,
  caller: Caller,
  isPublic: boolean,
): Promise<{ world: WorldRow; changed: boolean }> {
  const world = await ownWorld(trx, segment, caller, 'counting');
  if (world.is_public === isPublic) return { world, changed: false };
  await countPublicWorlds(trx, world.owner_account_id, isPublic ? 1 : -1);
  const changed = await setWorldPublic(trx, world.id, isPublic, nowOf(context));
  const change = isPublic ? 'published' : 'unpublished';
  await context.announce(trx, changed, { subject: 'world', id: changed.id, name: changed.name, change });
  return { world: changed, changed: true };
}
