import type { CreateWorldBody } from '@orrery/contracts';
import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import type { WorldRow } from '../database/schema.js';
import { refuseOverQuota } from '../quotas/quota-store.js';
import { countWorlds } from './world-counters.js';
import { insertWorld } from './world-store.js';

/** @throws ServiceError `quota_exceeded` when the account may have no more worlds. */
export async function createWorld(
  context: CatalogContext,
  trx: CatalogTransaction,
  accountId: number,
  body: CreateWorldBody,
): Promise<WorldRow> {
  const worlds = await countWorlds(trx, accountId, 1);
  await refuseOverQuota(trx, accountId, worlds);
  const world = await insertWorld(trx, accountId, body, nowOf(context));
  await context.announce(trx, world, { subject: 'world', id: world.id, name: world.name, change: 'created' });
  return world;
}
