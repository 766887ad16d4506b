import {
  type Caller,
  type CatalogChanged,
  type definitionRpcs,
  type FieldProblem,
  type Handlers,
  paginationOf,
  refuseChanged,
  refuseDeepPage,
  ServiceError,
  tagged,
  type VersionBody,
  type VersionRecord,
  versionRpcs,
} from '@orrery/contracts';
import { checkVersion, writeVersion } from '../../core/checks/check-version.js';
import { eventsNamed, priceOf, priceWarnings } from '../../core/checks/version-warnings.js';
import { refuseInUse } from '../../core/claims.js';
import {
  EMPTY_VERSION,
  type StoredVersion,
  schemasInTemplate,
  schemasNamed,
} from '../../core/definitions/stored-version.js';
import { below, refuseProblems } from '../../core/problems.js';
import { announce } from '../../store/changes.js';
import { claimantsOf } from '../../store/claims/claim-store.js';
import { draftDefinition } from '../../store/definitions/load-definitions.js';
import { findEvent, holdEvent, nextNumber, takeNumber } from '../../store/events/event-store.js';
import { hashesOf, liveSchemas } from '../../store/events/live-schemas.js';
import { toVersionRecord } from '../../store/events/version-record.js';
import {
  addLinks,
  deleteVersion,
  findVersion,
  holdVersion,
  insertVersion,
  type ListedVersion,
  listVersions,
  lockVersion,
  removeLinks,
  replaceDefinition,
} from '../../store/events/version-store.js';
import { holdSchemas } from '../../store/schemas/schema-store.js';
import type { Db, Hold } from '../../store/tables/db.js';
import type { EntitySchemaRow, EventRow, VersionRow, WorldRow } from '../../store/tables/schema.js';
import { holdWorldById, ownWorld, visibleWorld } from '../../store/worlds/world-access.js';
import { namesIn } from '../../store/worlds/world-members.js';
import {
  type CallersChange,
  type CatalogContext,
  type Change,
  changing,
  createOnce,
  deleting,
  warned,
} from '../operation.js';

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
      return tagged(await recordOf(db, { world, event }, row, caller));
    },

    'versions.update': ({ params, headers, body }, call) =>
      changing(context, call, async (change) => {
        const own = await holdOwn(change, params, 'shared', 'editing');
        refuseLocked(own.current);
        if (headers['if-match'] !== undefined)
          refuseChanged(headers['if-match'], await recordOf(change.trx, own, own.current, call.caller));
        const { version, warnings } = await changeVersion(change, own.world.id, own.current, body);
        return warned(await announced(change, own, version, 'updated'), warnings);
      }),

    'versions.lock': ({ params }, call) =>
      changing(context, call, async (change) => {
        const own = await holdOwn(change, params, 'shared', 'editing');
        if (own.current.locked_at !== null)
          return {
            data: await recordOf(change.trx, own, own.current, call.caller),
            message: 'The version was already locked.',
          };
        const locked = await lockVersion(change.trx, own.world.id, own.current, change.now);
        return {
          data: await announced(change, own, locked, 'locked'),
          message: 'The version is now locked.',
        };
      }),

    'versions.delete': ({ params }, call) =>
      deleting(context, call, (change) => removeVersion(change, params)),
  };
}

/** A version that is not saved, for a try of it. */
export const draftHandlers = (
  context: CatalogContext,
): Handlers<Pick<typeof definitionRpcs, 'definitions.draft'>> => ({
  'definitions.draft': ({ worldId, event, definition: body }, call) =>
    changing(context, call, async (change) => {
      const { trx } = change;
      if ((await holdWorldById(trx, worldId)) === undefined) throw new ServiceError('world_not_found');
      const { definition } = await prepareVersion(change, worldId, EMPTY_VERSION, body, '/definition');
      const version = await nextNumber(trx, worldId, event);
      return { definition: await draftDefinition(trx, { world_id: worldId, event, version, definition }) };
    }),
});

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
  const world = await ownWorld(change, worldAddress, 'shared');
  const event = await holdEvent(change.trx, world.id, eventName, 'editing');
  const { version: row, warnings } = await insertNewVersion(change, event, body);
  return warned(await announced(change, { world, event }, row, 'created'), warnings);
}

interface VersionPath extends EventPath {
  version: number;
}

/** A version of the caller's own world, with its event, both locked until the transaction ends. */
async function holdOwn(
  change: CallersChange,
  { worldAddress, eventName, version }: VersionPath,
  holdingEvent: Hold,
  holding: Hold,
): Promise<Around & { current: VersionRow }> {
  const world = await ownWorld(change, worldAddress, 'shared');
  const event = await holdEvent(change.trx, world.id, eventName, holdingEvent);
  return { world, event, current: await holdVersion(change.trx, event.id, version, holding) };
}

async function announced(
  change: CallersChange,
  around: Around,
  row: VersionRow,
  what: CatalogChanged['change'],
): Promise<VersionRecord> {
  await announce(change, around.world, 'event_version', { ...row, name: around.event.name }, what);
  return recordOf(change.trx, around, row, change.caller);
}

function refuseLocked({ version, locked_at }: VersionRow): void {
  if (locked_at !== null)
    throw new ServiceError(
      'version_locked',
      `Version ${version} is locked and cannot change. Create a new version.`,
    );
}

/** Deletes a version. Its number is not assigned again. */
async function removeVersion(change: CallersChange, path: VersionPath): Promise<void> {
  const { trx } = change;
  const { world, event, current: row } = await holdOwn(change, path, 'editing', 'alone');
  refuseLocked(row);
  refuseInUse('event_version_in_use', {
    what: 'Deployments bind the version',
    users: await claimantsOf(trx, 'version', row.id),
    advice: 'Unbind the event there, or bind another version, first.',
  });
  await deleteVersion(trx, row);
  await announce(change, world, 'event_version', { ...row, name: event.name }, 'deleted');
}

interface PreparedVersion {
  readonly definition: StoredVersion;
  /** The schemas to link it to. */
  readonly links: readonly EntitySchemaRow[];
  readonly warnings: readonly FieldProblem[];
}

/**
 * Merges a body into the current version, checks the result and locks the schemas that it names. Those in the keys of its
 * template must exist too. They are locked as well, so a deletion that waits sees the template, and are not linked:
 * docs/catalog.md says what the hashes of a version cover.
 */
async function prepareVersion(
  { trx, now, limits }: Change,
  worldId: number,
  current: StoredVersion,
  body: VersionBody,
  pointer: string,
): Promise<PreparedVersion> {
  const written = writeVersion(current, body, limits.versionBytes, pointer);
  const { definition } = written;
  const linked = schemasNamed(definition);
  const names = new Set([...linked, ...schemasInTemplate(definition)]);
  const named = await holdSchemas(trx, worldId, [...names]);
  const known = named.length < names.size ? await namesIn(trx, 'entity_schemas', worldId) : [];
  const events = eventsNamed(definition).length > 0 ? await namesIn(trx, 'events', worldId) : [];
  const { kinds, warnings } = checkVersion(written, { named, known, events }, now.getTime());
  refuseProblems(kinds, pointer);
  const links = named.filter(({ name }) => linked.includes(name));
  return { definition, links, warnings: below(pointer, warnings) };
}

/** A version as it was written, and the likely mistakes in it that are allowed. */
interface SavedVersion {
  readonly version: VersionRow;
  readonly warnings: readonly FieldProblem[];
}

/** The next version of an event that is held `editing` (or new). `pointer`: pointer to the body in the request. */
export async function insertNewVersion(
  change: Change,
  event: EventRow,
  body: VersionBody,
  pointer = '',
): Promise<SavedVersion> {
  const { trx, now, limits } = change;
  const prepared = await prepareVersion(change, event.world_id, EMPTY_VERSION, body, pointer);
  const number = await takeNumber(trx, event.id, limits.versionsPerEvent);
  const version = await insertVersion(trx, event.id, number, prepared.definition, now);
  await addLinks(trx, version.id, prepared.links);
  return { version, warnings: prepared.warnings };
}

/** Changes a version that is held `editing` and is not locked. */
async function changeVersion(
  change: Change,
  worldId: number,
  current: VersionRow,
  body: VersionBody,
): Promise<SavedVersion> {
  const { trx, now } = change;
  const { definition, links, warnings } = await prepareVersion(change, worldId, current.definition, body, '');
  const version = await replaceDefinition(trx, current.id, definition, now);
  await removeLinks(trx, current.id);
  await addLinks(trx, current.id, links);
  const isPriced = priceOf(definition) > priceOf(current.definition);
  const users = isPriced ? await claimantsOf(trx, 'version', current.id) : [];
  return { version, warnings: [...warnings, ...priceWarnings(definition, users)] };
}
