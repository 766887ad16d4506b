import type { CallContext, CreateEventBody, EventRecord } from '@orrery/contracts';
import { type CatalogContext, type CatalogTransaction, nowOf } from '../context.js';
import { insertNewVersion } from '../versions/save-version.js';
import { addMember } from '../worlds/member-counters.js';
import { ownWorld } from '../worlds/world-access.js';
import { toEventRecord } from './event-rules.js';
import { insertEvent } from './event-store.js';

/** An event and its version 1, both or neither. */
export async function createEvent(
  context: CatalogContext,
  trx: CatalogTransaction,
  worldAddress: string,
  body: CreateEventBody,
  { caller }: CallContext,
): Promise<EventRecord> {
  const world = await ownWorld(trx, worldAddress, caller, 'counting');
  await addMember(trx, world.id, 'event_count', context.limits.eventsPerWorld);
  const event = await insertEvent(trx, world.id, body, nowOf(context));
  const { version } = await insertNewVersion(context, trx, event, body.firstVersion, '/firstVersion');
  const { id, name } = event;
  await context.announce(trx, world, { subject: 'event', id, name, change: 'created' });
  return toEventRecord({ ...event, latest: version });
}
