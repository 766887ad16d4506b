import {
  type CallContext,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  type WorldRecord,
  worldRpcs,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { createOnce } from '../changes/create-once.js';
import { nowOf } from '../database/db.js';
import { isKnown } from '../quotas/quota-store.js';
import type { WorldDependencies } from './change-world.js';
import { createWorld, removeWorld, setPublic } from './change-world.js';
import { ownWorld, visibleWorld } from './world-access.js';
import { worldTotals } from './world-counters.js';
import { requireAccount, toWorldRecord } from './world-rules.js';
import { listWorlds, updateWorld } from './world-store.js';

export function worldHandlers(context: WorldDependencies): Handlers<typeof worldRpcs> {
  const { db, announce } = context;

  const publishing =
    (isPublic: boolean) =>
    async (segment: string, { caller }: CallContext) => {
      const { world, changed } = await transaction(db, (trx) =>
        setPublic(context, trx, segment, caller, isPublic),
      );
      const state = isPublic ? 'published' : 'private';
      const message = changed ? `The world is now ${state}.` : `The world was already ${state}.`;
      return { data: toWorldRecord(world, caller), message };
    };
  const publish = publishing(true);
  const unpublish = publishing(false);

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
        await announce(trx, world, { subject: 'world', id: world.id, name: world.name, change: 'updated' });
        return toWorldRecord(world, caller);
      }),
    }),

    'worlds.publish': ({ params }, call) => publish(params.idOrAddress, call),
    'worlds.unpublish': ({ params }, call) => unpublish(params.idOrAddress, call),

    'worlds.delete': async ({ params }, { caller }) => {
      await transaction(db, (trx) => removeWorld(context, trx, params.idOrAddress, caller));
      return { data: { deleted: true } };
    },
  };
}
