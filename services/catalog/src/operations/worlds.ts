import {
  type CreateWorldBody,
  type Handlers,
  paginationOf,
  refuseChanged,
  refuseDeepPage,
  tagged,
  worldRpcs,
} from '@orrery/contracts';
import { refuseInUse } from '../core/claims.js';
import { requireAccount } from '../core/worlds.js';
import { announce } from '../store/changes.js';
import { claimantsOf } from '../store/claims/claim-store.js';
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
import {
  type CallersChange,
  type CatalogContext,
  type Change,
  changing,
  createOnce,
  deleting,
} from './operation.js';

export function worldHandlers(context: CatalogContext): Handlers<typeof worldRpcs> {
  const { db } = context;
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
      return await createOnce(context, worldRpcs['worlds.create'], request, call, async (change) => {
        const world = await createWorld(change, account, request.body);
        return { data: toWorldRecord(world, call.caller) };
      });
    },

    'worlds.get': async ({ params }, { caller }) =>
      tagged(toWorldRecord(await visibleWorld(db, params.idOrAddress, caller), caller)),

    'worlds.update': ({ params, headers, body }, call) =>
      changing(context, call, async (change) => {
        const before = await ownWorld(change, params.idOrAddress, 'editing');
        refuseChanged(headers['if-match'], toWorldRecord(before, call.caller));
        const world = await updateWorld(change.trx, before.id, body, change.now);
        await announce(change, world, 'world', world, 'updated');
        return tagged(toWorldRecord(world, call.caller));
      }),

    'worlds.publish': ({ params }, call) =>
      changing(context, call, (change) => setPublic(change, params.idOrAddress, true)),

    'worlds.unpublish': ({ params }, call) =>
      changing(context, call, (change) => setPublic(change, params.idOrAddress, false)),

    'worlds.delete': ({ params }, call) =>
      deleting(context, call, (change) => removeWorld(change, params.idOrAddress)),
  };
}

/** @throws ServiceError `quota_exceeded` when the account may have no more worlds. */
async function createWorld(change: Change, accountId: number, body: CreateWorldBody): Promise<WorldRow> {
  const { trx, now } = change;
  const worlds = await countWorlds(trx, accountId, 1);
  await refuseOverQuota(trx, accountId, worlds);
  const world = await insertWorld(trx, accountId, body, now);
  await announce(change, world, 'world', world, 'created');
  return world;
}

/** Publishes or unpublishes a world, which affects only who may read it. Idempotent. */
async function setPublic(change: CallersChange, segment: string, isPublic: boolean) {
  const { trx, now, caller } = change;
  const world = await ownWorld(change, segment, 'editing');
  const state = isPublic ? 'published' : 'private';
  if (world.is_public === isPublic)
    return { data: toWorldRecord(world, caller), message: `The world was already ${state}.` };
  await countPublicWorlds(trx, world.owner_account_id, isPublic ? 1 : -1);
  const changed = await updateWorld(trx, world.id, { isPublic }, now);
  await announce(change, changed, 'world', changed, isPublic ? 'published' : 'unpublished');
  return { data: toWorldRecord(changed, caller), message: `The world is now ${state}.` };
}

/** @throws ServiceError `world_in_use` while a deployment of the world exists. */
async function removeWorld(change: CallersChange, segment: string): Promise<void> {
  const { trx } = change;
  const world = await ownWorld(change, segment, 'alone');
  refuseInUse('world_in_use', {
    what: 'The world has deployments',
    users: await claimantsOf(trx, 'world', world.id),
    advice: 'Delete them first.',
  });
  if (world.is_public) await countPublicWorlds(trx, world.owner_account_id, -1);
  await countWorlds(trx, world.owner_account_id, -1);
  await deleteWorld(trx, world.id);
  await announce(change, world, 'world', world, 'deleted');
}
