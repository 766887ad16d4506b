import type { Caller, Cancellation, CreateWorldBody } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Announce } from '../changes/announce-change.js';
import { claimantsInWorld } from '../claims/claim-store.js';
import { inUse } from '../claims/in-use.js';
import { type Db, nowOf, type Trx } from '../database/db.js';
import type { WorldRow } from '../database/schema.js';
import { refuseOverQuota } from '../quotas/quota-store.js';
import { ownWorld } from './world-access.js';
import { countPublicWorlds, countWorlds } from './world-counters.js';
import { deleteWorld, insertWorld, setWorldPublic } from './world-store.js';

/** What changes of worlds need. */
export interface WorldDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly announce: Announce;
  /** Asks the gateway for an account's quota and stores it. */
  readonly learnQuota: (accountId: number, signal?: Cancellation) => Promise<void>;
}

/** @throws ServiceError `quota_exceeded` when the account may have no more worlds. */
export async function createWorld(
  context: WorldDependencies,
  trx: Trx,
  accountId: number,
  body: CreateWorldBody,
): Promise<WorldRow> {
  const worlds = await countWorlds(trx, accountId, 1);
  await refuseOverQuota(trx, accountId, worlds);
  const world = await insertWorld(trx, accountId, body, nowOf(context));
  await context.announce(trx, world, { subject: 'world', id: world.id, name: world.name, change: 'created' });
  return world;
}

/** Publishes or unpublishes a world, which affects only who may read it. Idempotent. */
export async function setPublic(
  context: WorldDependencies,
  trx: Trx,
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

/** @throws ServiceError `world_in_use` while a deployment of the world exists. */
export async function removeWorld(
  context: WorldDependencies,
  trx: Trx,
  segment: string,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, segment, caller, 'alone');
  const users = await claimantsInWorld(trx, world.id);
  if (users.length > 0)
    throw inUse('world_in_use', { what: 'The world has deployments', users, advice: 'Delete them first.' });
  if (world.is_public) await countPublicWorlds(trx, world.owner_account_id, -1);
  await countWorlds(trx, world.owner_account_id, -1);
  await deleteWorld(trx, world.id);
  await context.announce(trx, world, { subject: 'world', id: world.id, name: world.name, change: 'deleted' });
}
