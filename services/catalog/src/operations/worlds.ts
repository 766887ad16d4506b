import {
  type CallContext,
  type Caller,
  type CreateWorldBody,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  type WorldRecord,
  worldRpcs,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { refuseInUse } from '../core/claims.js';
import { requireAccount } from '../core/worlds.js';
import { claimantsOf } from '../store/claims/claim-store.js';
import { nowOf, type Trx } from '../store/tables/db.js';
import type { WorldRow } from '../store/tables/schema.js';
import { isKnown, refuseOverQuota } from '../store/worlds/quota-store.js';
import { ownWorld, visibleWorld } from '../store/worlds/world-access.js';
import { countPublicWorlds, countWorlds, worldTotals } from '../store/worlds/world-counters.js';
import {
  deleteWorld,
  insertWorld,
  listWorlds,
  toWorldRecord,
  updateWorld,
} from '../store/worlds/world-store.js';
import { type CatalogContext, createOnce, deleteIn } from './operation.js';

export function worldHandlers(context: CatalogContext): Handlers<typeof worldRpcs> {
  const { db, announce } = context;
  return {
    'worlds.list': async ({ query }, { caller }) => {
      refuseDeepPage(query);
      const account = requireAccount(caller);
      const mineOnly = query.owner === 'me';
      const [rows, totals] = await Promise.all([
        listWorlds(db, account, query, mineOnly),
        worldTotals(db, account),
      ]);
      const data = rows.map((row) => toWorldRecord(row, caller));
      return { data, pagination: paginationOf(query, mineOnly ? totals.own : totals.visible) };
    },

    'worlds.create': async (request, call) => {
      const account = requireAccount(call.caller);
      if (!(await isKnown(db, account))) await context.learnQuota(account, call.signal);
      return await createOnce(context, worldRpcs['worlds.create'], request, call, async (trx) => {
        const world = await createWorld(context, trx, account, request.body);
        return { data: toWorldRecord(world, call.caller) };
      });
    },

    'worlds.get': async ({ params }, { caller }) => ({
      data: toWorldRecord(await visibleWorld(db, params.idOrAddress, caller), caller),
    }),

    'worlds.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, async (trx): Promise<WorldRecord> => {
        const { id } = await ownWorld(trx, params.idOrAddress, caller, 'counting');
        const world = await updateWorld(trx, id, body, nowOf(context));
        await announce(trx, world, 'world', world, 'updated');
        return toWorldRecord(world, caller);
      }),
    }),

    'worlds.publish': ({ params }, call) => setPublic(context, params.idOrAddress, call, true),
    'worlds.unpublish': ({ params }, call) => setPublic(context, params.idOrAddress, call, false),

    'worlds.delete': ({ params }, { caller }) =>
      deleteIn(context, (trx) => removeWorld(context, trx, params.idOrAddress, caller)),
  };
}

/** @throws ServiceError `quota_exceeded` when the account may have no more worlds. */
async function createWorld(
  context: CatalogContext,
  trx: Trx,
  accountId: number,
  body: CreateWorldBody,
): Promise<WorldRow> {
  const worlds = await countWorlds(trx, accountId, 1);
  await refuseOverQuota(trx, accountId, worlds);
  const world = await insertWorld(trx, accountId, body, nowOf(context));
  await context.announce(trx, world, 'world', world, 'created');
  return world;
}

/** Publishes or unpublishes a world, which affects only who may read it. Idempotent. */
const setPublic = (context: CatalogContext, segment: string, { caller }: CallContext, isPublic: boolean) =>
  transaction(context.db, async (trx) => {
    const world = await ownWorld(trx, segment, caller, 'counting');
    const state = isPublic ? 'published' : 'private';
    if (world.is_public === isPublic)
      return { data: toWorldRecord(world, caller), message: `The world was already ${state}.` };
    await countPublicWorlds(trx, world.owner_account_id, isPublic ? 1 : -1);
    const changed = await updateWorld(trx, world.id, { isPublic }, nowOf(context));
    await context.announce(trx, changed, 'world', changed, isPublic ? 'published' : 'unpublished');
    return { data: toWorldRecord(changed, caller), message: `The world is now ${state}.` };
  });

/** @throws ServiceError `world_in_use` while a deployment of the world exists. */
async function removeWorld(
  context: CatalogContext,
  trx: Trx,
  segment: string,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, segment, caller, 'alone');
  refuseInUse('world_in_use', {
    what: 'The world has deployments',
    users: await claimantsOf(trx, 'world', world.id),
    advice: 'Delete them first.',
  });
  if (world.is_public) await countPublicWorlds(trx, world.owner_account_id, -1);
  await countWorlds(trx, world.owner_account_id, -1);
  await deleteWorld(trx, world.id);
  await context.announce(trx, world, 'world', world, 'deleted');
}
