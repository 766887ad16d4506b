import { eventRpcs, type Handlers, paginationOf, refuseDeepPage } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { createOnce } from '../changes/create-once.js';
import { visibleWorld } from '../worlds/world-access.js';
import type { EventDependencies } from './change-event.js';
import { changeEvent, createEvent, removeEvent } from './change-event.js';
import { eventsPage, findEvent, toEventRecord } from './event-store.js';

export function eventHandlers(context: EventDependencies): Handlers<typeof eventRpcs> {
  const { db } = context;
  return {
    'events.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const rows = await eventsPage(db, world.id, query).execute();
      return { data: rows.map(toEventRecord), pagination: paginationOf(query, world.event_count) };
    },

    'events.create': (request, call) =>
      createOnce(context, eventRpcs['events.create'], request, call, (trx) =>
        createEvent(context, trx, request.params.worldAddress, request.body, call),
      ),

    'events.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      return { data: toEventRecord(await findEvent(db, world.id, params.eventName)) };
    },

    'events.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, (trx) => changeEvent(context, trx, params, body, caller)),
    }),

    'events.delete': async ({ params }, { caller }) => {
      await transaction(db, (trx) => removeEvent(context, trx, params, caller));
      return { data: { deleted: true } };
    },
  };
}
