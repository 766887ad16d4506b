import { type Caller, type EventRecord, ServiceError, type UpdateEventBody } from '@orrery/contracts';
import { isEventClaimed } from '../claims/claim-store.js';
import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import { hasLockedVersion } from '../versions/version-store.js';
import { removeMember } from '../worlds/member-counters.js';
import { ownWorld } from '../worlds/world-access.js';
import { toEventRecord } from './event-rules.js';
import { deleteEvent, holdEvent, updateEvent } from './event-store.js';

interface EventPath {
  worldAddress: string;
  eventName: string;
}

/** @throws ServiceError `event_in_use` when a deployment binds a version of it. */
async function refuseWhileBound(trx: CatalogTransaction, id: number, what: string): Promise<void> {
  if (await isEventClaimed(trx, id))
    throw new ServiceError('event_in_use', `A deployment binds the event; it cannot be ${what}.`);
}

export async function changeEvent(
  context: CatalogContext,
  trx: CatalogTransaction,
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

/** With its versions, when none is locked and none is bound. */
export async function removeEvent(
  context: CatalogContext,
  trx: CatalogTransaction,
  { worldAddress, eventName }: EventPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  const { id, name } = await holdEvent(trx, world.id, eventName, 'alone');
  if (await hasLockedVersion(trx, id))
    throw new ServiceError('version_locked', 'The event has a locked version; those are for ever.');
  await refuseWhileBound(trx, id, 'deleted');
  await deleteEvent(trx, id);
  await removeMember(trx, world.id, 'event_count');
  await context.announce(trx, world, { subject: 'event', id, name, change: 'deleted' });
}
