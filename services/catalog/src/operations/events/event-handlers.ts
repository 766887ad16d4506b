import {
  type Caller,
  type CreateEventBody,
  type EventRecord,
  eventRpcs,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  ServiceError,
  type UpdateEventBody,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { refuseInUse } from '../../core/claims.js';
import { claimantsOf } from '../../store/claims/claim-store.js';
import {
  findEvent,
  holdEvent,
  insertEvent,
  listEvents,
  toEventRecord,
  updateEvent,
} from '../../store/events/event-store.js';
import { hasLockedVersion } from '../../store/events/version-store.js';
import { nowOf, type Trx } from '../../store/tables/db.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { addMember, deleteMember } from '../../store/worlds/world-members.js';
import { type CatalogContext, createOnce, deleteIn, withMessage } from '../operation.js';
import { insertNewVersion } from './save-version.js';

export function eventHandlers(context: CatalogContext): Handlers<typeof eventRpcs> {
  const { db } = context;
  return {
    'events.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const rows = await listEvents(db, world.id, query);
      return { data: rows.map(toEventRecord), pagination: paginationOf(query, world.event_count) };
    },

    'events.create': (request, call) =>
      createOnce(context, eventRpcs['events.create'], request, call, (trx) =>
        createEvent(context, trx, request.params.worldAddress, request.body, call.caller),
      ),

    'events.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      return { data: toEventRecord(await findEvent(db, world.id, params.eventName)) };
    },

    'events.update': async ({ params, body }, { caller }) => ({
      data: await transaction(db, (trx) => changeEvent(context, trx, params, body, caller)),
    }),

    'events.delete': ({ params }, { caller }) =>
      deleteIn(context, (trx) => removeEvent(context, trx, params, caller)),
  };
}

/** Creates an event and its version 1, both or neither; the message tells likely mistakes in the version. */
async function createEvent(
  context: CatalogContext,
  trx: Trx,
  worldAddress: string,
  body: CreateEventBody,
  caller: Caller,
): Promise<{ data: EventRecord; message?: string }> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  await addMember(trx, world.id, 'events', context.limits.eventsPerWorld);
  const event = await insertEvent(trx, world.id, body, nowOf(context));
  const { firstVersion } = body;
  const { version, warnings } = await insertNewVersion(context, trx, event, firstVersion, '/firstVersion');
  await context.announce(trx, world, 'event', event, 'created');
  return withMessage(toEventRecord({ ...event, latest: version.version }), warnings);
}

interface EventPath {
  worldAddress: string;
  eventName: string;
}

async function changeEvent(
  context: CatalogContext,
  trx: Trx,
  { worldAddress, eventName }: EventPath,
  body: UpdateEventBody,
  caller: Caller,
): Promise<EventRecord> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const renames = body.name !== undefined && body.name !== eventName;
  const { id } = await holdEvent(trx, world.id, eventName, renames ? 'alone' : 'numbering');
  if (renames) await refuseWhileBound(trx, id, 'renamed');
  const event = await updateEvent(trx, id, body, nowOf(context));
  await context.announce(trx, world, 'event', event, 'updated');
  return toEventRecord(event);
}

/** Deletes an event with its versions, if none is locked and none is bound. */
async function removeEvent(
  context: CatalogContext,
  trx: Trx,
  { worldAddress, eventName }: EventPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const event = await holdEvent(trx, world.id, eventName, 'alone');
  if (await hasLockedVersion(trx, event.id))
    throw new ServiceError('version_locked', 'The event has a locked version, which cannot be deleted.');
  await refuseWhileBound(trx, event.id, 'deleted');
  await deleteMember(trx, world.id, 'events', event.id);
  await context.announce(trx, world, 'event', event, 'deleted');
}

/** @throws ServiceError `event_in_use` when a deployment binds a version of it. */
const refuseWhileBound = async (trx: Trx, id: number, what: string): Promise<void> =>
  refuseInUse('event_in_use', {
    what: `The event cannot be ${what} while deployments bind it`,
    users: await claimantsOf(trx, 'event', id),
    advice: 'Unbind it there first.',
  });
