import { type Caller, ServiceError, type VersionBody } from '@orrery/contracts';
import type { Announce } from '../changes/announce-change.js';
import { claimantsOf } from '../claims/claim-store.js';
import { inUse } from '../claims/in-use.js';
import type { Db, Trx } from '../database/db.js';
import type { VersionRow, WorldRow } from '../database/schema.js';
import { dropNumber, holdEvent } from '../events/event-store.js';
import { ownWorld } from '../worlds/world-access.js';
import type { SaveDependencies, SavedVersion } from './save-version.js';
import { insertNewVersion } from './save-version.js';
import { deleteVersion, holdVersion } from './version-store.js';

/** What changes of versions need. */
export interface VersionDependencies extends SaveDependencies {
  readonly db: Db;
  readonly announce: Announce;
}

/** Creates the next version of an event. Creations of one event run one at a time, so numbers have no gaps. */
export async function createVersion(
  context: VersionDependencies,
  trx: Trx,
  { worldAddress, eventName }: { worldAddress: string; eventName: string },
  body: VersionBody,
  caller: Caller,
): Promise<EditedVersion & Pick<SavedVersion, 'warnings'>> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'numbering');
  const { version: row, warnings } = await insertNewVersion(context, trx, event, body);
  await context.announce(trx, world, {
    subject: 'event_version',
    id: row.id,
    name: event.name,
    version: row.version,
    change: 'created',
  });
  return { world, row: { ...row, event: event.name }, warnings };
}

export interface VersionPath {
  worldAddress: string;
  eventName: string;
  version: number;
}

export interface EditedVersion {
  world: WorldRow;
  row: VersionRow & { event: string };
}

/** Locks an own version, lets `edit` change it and announces the outcome. */
export async function editVersion(
  context: VersionDependencies,
  trx: Trx,
  { worldAddress, eventName, version }: VersionPath,
  caller: Caller,
  edit: (world: WorldRow, current: VersionRow) => Promise<VersionRow>,
): Promise<EditedVersion> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'shared');
  const current = await holdVersion(trx, event.id, version, 'editing');
  const edited = await edit(world, current);
  const change = edited.locked_at === null ? 'updated' : 'locked';
  if (edited !== current)
    await context.announce(trx, world, {
      subject: 'event_version',
      id: edited.id,
      name: event.name,
      version,
      change,
    });
  return { world, row: { ...edited, event: event.name } };
}

/** @throws ServiceError `version_locked`. */
export function refuseLocked({ version, locked_at }: VersionRow): void {
  if (locked_at !== null)
    throw new ServiceError(
      'version_locked',
      `Version ${version} is locked and cannot change. Create a new version.`,
    );
}

/** Deletes a version. Its number is not assigned again. */
export async function removeVersion(
  context: VersionDependencies,
  trx: Trx,
  { worldAddress, eventName, version }: VersionPath,
  caller: Caller,
): Promise<void> {
  const world = await ownWorld(trx, worldAddress, caller, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'numbering');
  const row = await holdVersion(trx, event.id, version, 'alone');
  refuseLocked(row);
  const users = await claimantsOf(trx, 'version', row.id);
  if (users.length > 0)
    throw inUse('event_version_in_use', {
      what: 'Deployments bind the version',
      users,
      advice: 'Unbind the event there, or bind another version, first.',
    });
  await deleteVersion(trx, row.id);
  await dropNumber(trx, event.id);
  const { id } = row;
  const change = { subject: 'event_version', id, name: event.name, version, change: 'deleted' } as const;
  await context.announce(trx, world, change);
}
