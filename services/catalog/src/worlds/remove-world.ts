import { type Caller, ServiceError } from '@orrery/contracts';
import { isWorldClaimed } from '../claims/claim-store.js';
import type { CatalogContext, CatalogTransaction } from '../context.js';
import { ownWorld } from './world-access.js';
import { countPublicWorlds, countWorlds } from './world-counters.js';
import { deleteWorld } from './world-store.js';

/** @throws ServiceError `world_in_use` while a deployment of the world exists. */
export async function removeWorld(
  context: CatalogContext,
  trx: CatalogTransaction,
  segment: string,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, segment, caller, 'alone');
  if (await isWorldClaimed(trx, world.id))
    throw new ServiceError('world_in_use', 'The world has deployments; delete them first.');
  if (world.is_public) await countPublicWorlds(trx, world.owner_account_id, -1);
  await countWorlds(trx, world.owner_account_id, -1);
  await deleteWorld(trx, world.id);
  await context.announce(trx, world, { subject: 'world', id: world.id, name: world.name, change: 'deleted' });
}
