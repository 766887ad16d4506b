import type { Caller, VersionBody } from '@orrery/contracts';
import type { CatalogContext, CatalogTransaction } from '../context.js';
import { holdEvent } from '../events/event-store.js';
import { ownWorld } from '../worlds/world-access.js';
import type { EditedVersion } from './edit-version.js';
import { insertNewVersion } from './save-version.js';

/** The next version of an event; creations of one event take turns, so numbers come without a hole. */
export async function createVersion(
  context: CatalogContext,
  trx: CatalogTransaction,
  { worldAddress, eventName }: { worldAddress: string; eventName: string },
  body: VersionBody,
  caller: Caller,
): Promise<EditedVersion> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'numbering');
  const row = await insertNewVersion(context, trx, event, body);
  await context.announce(trx, world, {
    subject: 'event_version',
    id: row.id,
    name: event.name,
    version: row.version,
    change: 'created',
  });
  return { world, row: { ...row, event: event.name } };
}
