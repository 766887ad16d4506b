import {
  type Caller,
  type FieldProblem,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  ServiceError,
  type VersionBody,
  type VersionRecord,
  versionRpcs,
} from '@orrery/contracts';
import { refuseInUse } from '../../core/claims.js';
import { announce } from '../../store/changes.js';
import { claimantsOf } from '../../store/claims/claim-store.js';
import { findEvent, holdEvent } from '../../store/events/event-store.js';
import { hashesOf, liveSchemas } from '../../store/events/live-schemas.js';
import { toVersionRecord } from '../../store/events/version-record.js';
import {
  deleteVersion,
  findVersion,
  holdVersion,
  type ListedVersion,
  listVersions,
  lockVersion,
} from '../../store/events/version-store.js';
import type { Db } from '../../store/tables/db.js';
import type { EventRow, VersionRow, WorldRow } from '../../store/tables/schema.js';
import { ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import {
  type CallersChange,
  type CatalogContext,
  changing,
  createOnce,
  deleting,
  withMessage,
} from '../operation.js';
import { changeVersion, insertNewVersion } from './save-version.js';

export function versionHandlers(context: CatalogContext): Handlers<typeof versionRpcs> {
  const { db } = context;
  return {
    'versions.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const event = await findEvent(db, world.id, params.eventName);
      const rows = await listVersions(db, event.id, query);
      const data = await recordsOf(db, { world, event }, rows, caller);
      return { data, pagination: paginationOf(query, event.version_count) };
    },

    'versions.create': (request, call) =>
      createOnce(context, versionRpcs['versions.create'], request, call, (change) =>
        createVersion(change, request.params, request.body),
      ),

    'versions.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const event = await findEvent(db, world.id, params.eventName);
      const row = await findVersion(db, event.id, params.version);
      return { data: await recordOf(db, { world, event }, row, caller) };
    },

    'versions.update': ({ params, body }, call) =>
      changing(context, call, async (change) => {
        let warnings: readonly FieldProblem[] = [];
        const data = await editVersion(change, params, async (world, current) => {
          refuseLocked(current);
          const saved = await changeVersion(change, world.id, current, body);
          warnings = saved.warnings;
          return saved.version;
        });
        return withMessage(data, warnings);
      }),

    'versions.lock': ({ params }, call) =>
      changing(context, call, async (change) => {
        let locks = false;
        const data = await editVersion(change, params, (world, current) => {
          locks = current.locked_at === null;
          return lockVersion(change.trx, world.id, current, change.now);
        });
        const message = locks ? 'The version is now locked.' : 'The version was already locked.';
        return { data, message };
      }),

    'versions.delete': ({ params }, call) =>
      deleting(context, call, (change) => removeVersion(change, params)),
  };
}

interface Around {
  readonly world: WorldRow;
  readonly event: EventRow;
}

/** Versions as the API returns them. A draft's hash covers the current schemas. */
async function recordsOf(
  db: Db,
  { world, event }: Around,
  versions: readonly ListedVersion[],
  caller: Caller,
): Promise<VersionRecord[]> {
  const rows = versions.map((row) => ({ ...row, event: event.name, world_id: world.id }));
  const drafts = rows.filter(({ locked_at }) => locked_at === null);
  const liveOf = await liveSchemas(db, drafts, ['name', 'hash']);
  return rows.map((row) => toVersionRecord(row, world, hashesOf(liveOf(row)), caller));
}

async function recordOf(db: Db, around: Around, row: VersionRow, caller: Caller): Promise<VersionRecord> {
  const [record] = await recordsOf(db, around, [row], caller);
  return record as VersionRecord;
}

interface EventPath {
  worldAddress: string;
  eventName: string;
}

/** Creates the next version of an event. Creations of one event run one at a time, so numbers have no gaps. */
async function createVersion(
  change: CallersChange,
  { worldAddress, eventName }: EventPath,
  body: VersionBody,
) {
  const { trx, caller } = change;
  const world = await ownWorld(change, worldAddress, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'editing');
  const { version: row, warnings } = await insertNewVersion(change, event, body);
  await announce(change, world, 'event_version', { ...row, name: event.name }, 'created');
  return withMessage(await recordOf(trx, { world, event }, row, caller), warnings);
}

interface VersionPath extends EventPath {
  version: number;
}

/** Locks an own version, lets `edit` change it and announces the outcome. */
async function editVersion(
  change: CallersChange,
  { worldAddress, eventName, version }: VersionPath,
  edit: (world: WorldRow, current: VersionRow) => Promise<VersionRow>,
): Promise<VersionRecord> {
  const { trx, caller } = change;
  const world = await ownWorld(change, worldAddress, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'shared');
  const current = await holdVersion(trx, event.id, version, 'editing');
  const edited = await edit(world, current);
  const what = edited.locked_at === null ? 'updated' : 'locked';
  if (edited !== current)
    await announce(change, world, 'event_version', { ...edited, name: event.name }, what);
  return recordOf(trx, { world, event }, edited, caller);
}

function refuseLocked({ version, locked_at }: VersionRow): void {
  if (locked_at !== null)
    throw new ServiceError(
      'version_locked',
      `Version ${version} is locked and cannot change. Create a new version.`,
    );
}

/** Deletes a version. Its number is not assigned again. */
async function removeVersion(
  change: CallersChange,
  { worldAddress, eventName, version }: VersionPath,
): Promise<void> {
  const { trx } = change;
  const world = await ownWorld(change, worldAddress, 'shared');
  const event = await holdEvent(trx, world.id, eventName, 'editing');
  const row = await holdVersion(trx, event.id, version, 'alone');
  refuseLocked(row);
  refuseInUse('event_version_in_use', {
    what: 'Deployments bind the version',
    users: await claimantsOf(trx, 'version', row.id),
    advice: 'Unbind the event there, or bind another version, first.',
  });
  await deleteVersion(trx, row);
  await announce(change, world, 'event_version', { ...row, name: event.name }, 'deleted');
}
