import {
  type CreateEventBody,
  type EventRecord,
  eventRpcs,
  type Handlers,
  paginationOf,
  refuseChanged,
  refuseDeepPage,
  ServiceError,
  tagged,
  type UpdateEventBody,
} from '@orrery/contracts';
import { refuseInUse } from '../../core/claims.js';
import { announce } from '../../store/changes.js';
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
import type { Trx } from '../../store/tables/db.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { addMember, deleteMember } from '../../store/worlds/world-members.js';
import {
  type CallersChange,
  type CatalogContext,
  changing,
  createOnce,
  deleting,
  warned,
} from '../operation.js';
import { insertNewVersion } from './version-handlers.js';

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
      createOnce(context, eventRpcs['events.create'], request, call, (change) =>
        createEvent(change, request.params.worldAddress, request.body),
      ),

    'events.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      return tagged(toEventRecord(await findEvent(db, world.id, params.eventName)));
    },

    'events.update': ({ params, headers, body }, call) =>
      changing(context, call, async (change) =>
        tagged(await changeEvent(change, params, body, headers['if-match'])),
      ),

    'events.delete': ({ params }, call) => deleting(context, call, (change) => removeEvent(change, params)),
  };
}

/** Creates an event and its version 1, both or neither; the message tells likely mistakes in the version. */
async function createEvent(
  change: CallersChange,
  worldAddress: string,
  body: CreateEventBody,
): Promise<{ data: EventRecord; etag: string }> {
  const { trx, now, limits } = change;
  const world = await ownWorld(change, worldAddress, 'editing');
  await addMember(trx, world.id, 'events', limits.eventsPerWorld);
  const event = await insertEvent(trx, world.id, body, now);
  const { version, warnings } = await insertNewVersion(change, event, body.firstVersion, '/firstVersion');
  await announce(change, world, 'event', event, 'created');
  return warned(toEventRecord({ ...event, latest: version.version }), warnings);
}

interface EventPath {
  worldAddress: string;
  eventName: string;
}

async function changeEvent(
  change: CallersChange,
  { worldAddress, eventName }: EventPath,
  body: UpdateEventBody,
  known: string | undefined,
): Promise<EventRecord> {
  const { trx, now } = change;
  const world = await ownWorld(change, worldAddress, 'shared');
  const renames = body.name !== undefined && body.name !== eventName;
  const before = await holdEvent(trx, world.id, eventName, renames ? 'alone' : 'editing');
  refuseChanged(known, toEventRecord({ ...before, latest: null }));
  if (renames) await refuseWhileBound(trx, before.id, 'renamed');
  const event = await updateEvent(trx, before.id, body, now);
  await announce(change, world, 'event', event, 'updated');
  return toEventRecord(event);
}

/** Deletes an event with its versions, if none is locked and none is bound. */
async function removeEvent(change: CallersChange, { worldAddress, eventName }: EventPath): Promise<void> {
  const { trx } = change;
  const world = await ownWorld(change, worldAddress, 'editing');
  const event = await holdEvent(trx, world.id, eventName, 'alone');
  if (await hasLockedVersion(trx, event.id))
    throw new ServiceError('version_locked', 'The event has a locked version, which cannot be deleted.');
  await refuseWhileBound(trx, event.id, 'deleted');
  await deleteMember(trx, world.id, 'events', event.id);
  await announce(change, world, 'event', event, 'deleted');
}

/** @throws ServiceError `event_in_use` when a deployment binds a version of it. */
const refuseWhileBound = async (trx: Trx, id: number, what: string): Promise<void> =>
  refuseInUse('event_in_use', {
    what: `The event cannot be ${what} while deployments bind it`,
    users: await claimantsOf(trx, 'event', id),
    advice: 'Unbind it there first.',
  });
