import {
  type CallContext,
  type Caller,
  type CreateEventBody,
  type EventRecord,
  ServiceError,
  type UpdateEventBody,
  withWarnings,
} from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Announce } from '../changes/announce-change.js';
import { claimantsOfEvent } from '../claims/claim-store.js';
import { inUse } from '../claims/in-use.js';
import type { CatalogLimits } from '../config.js';
import { type Db, nowOf, type Trx } from '../database/db.js';
import { insertNewVersion } from '../versions/save-version.js';
import { hasLockedVersion } from '../versions/version-store.js';
import { ownWorld } from '../worlds/world-access.js';
import { addMember, removeMember } from '../worlds/world-counters.js';
import { deleteEvent, holdEvent, insertEvent, toEventRecord, updateEvent } from './event-store.js';

/** What changes of events need. */
export interface EventDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  readonly announce: Announce;
}

/** Creates an event and its version 1, both or neither; the message tells likely mistakes in the version. */
export async function createEvent(
  context: EventDependencies,
  trx: Trx,
  worldAddress: string,
  body: CreateEventBody,
  { caller }: CallContext,
): Promise<{ data: EventRecord; message?: string }> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  await addMember(trx, world.id, 'event_count', context.limits.eventsPerWorld);
  const event = await insertEvent(trx, world.id, body, nowOf(context));
  const { firstVersion } = body;
  const { version, warnings } = await insertNewVersion(context, trx, event, firstVersion, '/firstVersion');
  const { id, name } = event;
  await context.announce(trx, world, { subject: 'event', id, name, change: 'created' });
  const message = withWarnings(warnings);
  return {
    data: toEventRecord({ ...event, latest: version.version }),
    ...(message !== undefined && { message }),
  };
}

interface EventPath {
  worldAddress: string;
  eventName: string;
}

/** @throws ServiceError `event_in_use` when a deployment binds a version of it. */
async function refuseWhileBound(trx: Trx, id: number, what: string): Promise<void> {
  const users = await claimantsOfEvent(trx, id);
  if (users.length === 0) return;
  const bound = `The event cannot be ${what} while deployments bind it`;
  throw inUse('event_in_use', { what: bound, users, advice: 'Unbind it there first.' });
}

export async function changeEvent(
  context: EventDependencies,
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
  await context.announce(trx, world, { subject: 'event', id, name: event.name, change: 'updated' });
  return toEventRecord(event);
}

/** Deletes an event with its versions, if none is locked and none is bound. */
export async function removeEvent(
  context: EventDependencies,
  trx: Trx,
  { worldAddress, eventName }: EventPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const { id, name } = await holdEvent(trx, world.id, eventName, 'alone');
  if (await hasLockedVersion(trx, id))
    throw new ServiceError('version_locked', 'The event has a locked version, which cannot be deleted.');
  await refuseWhileBound(trx, id, 'deleted');
  await deleteEvent(trx, id);
  await removeMember(trx, world.id, 'event_count');
  await context.announce(trx, world, { subject: 'event', id, name, change: 'deleted' });
}
