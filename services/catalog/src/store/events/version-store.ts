import { type PageQuery, ServiceError } from '@orrery/contracts';
import { page } from '@orrery/database';
import { type StoredVersion, schemasNamed, usesAllSchemas } from '../../core/definitions/stored-version.js';
import { versionHash } from '../../core/definitions/version-hash.js';
import { holdSchemas } from '../schemas/schema-store.js';
import { type Db, type Hold, held, json, type Trx } from '../tables/db.js';
import type { EntitySchemaRow, VersionRow } from '../tables/schema.js';
import { definitionsOf, hashesOf } from './live-schemas.js';

const selectVersion = (db: Db, eventId: number, version: number) =>
  db.selectFrom('event_versions').selectAll().where('event_id', '=', eventId).where('version', '=', version);

async function orNotFound(
  row: VersionRow | undefined,
  db: Db,
  eventId: number,
  version: number,
): Promise<VersionRow> {
  if (row !== undefined) return row;
  throw new ServiceError('event_version_not_found', await noSuchVersion(db, eventId, 'The event', version));
}

const MAX_NUMBERS = 10;

/** Says that an event lacks a version, and which it has. */
export async function noSuchVersion(
  db: Db,
  eventId: number,
  event: string,
  version: number,
): Promise<string> {
  const rows = await db
    .selectFrom('event_versions')
    .select('version')
    .where('event_id', '=', eventId)
    .orderBy('version', 'desc')
    .limit(MAX_NUMBERS + 1)
    .execute();
  const numbers = rows.map((row) => row.version);
  const [highest] = numbers;
  if (highest === undefined) return `${event} has no version ${version}, and no other.`;
  const all = numbers.length > MAX_NUMBERS ? `the highest is ${highest}` : `it has ${numbers.join(', ')}`;
  return `${event} has no version ${version}; ${all}.`;
}

/** @throws ServiceError `event_version_not_found`. */
export const findVersion = async (db: Db, eventId: number, version: number): Promise<VersionRow> =>
  orNotFound(await selectVersion(db, eventId, version).executeTakeFirst(), db, eventId, version);

/** The version, locked until the transaction ends. @throws ServiceError `event_version_not_found`. */
export async function holdVersion(
  trx: Trx,
  eventId: number,
  version: number,
  hold: Hold,
): Promise<VersionRow> {
  const query = selectVersion(trx, eventId, version);
  return orNotFound(await held(query, hold).executeTakeFirst(), trx, eventId, version);
}

export type HeldVersion = VersionRow & { event: string };

/**
 * Versions of a world by id, locked against editing. Locks events before versions, each in order of id, as all
 * transactions do (docs/catalog.md). @throws ServiceError `unknown_event_version`
 */
export async function holdVersions(
  trx: Trx,
  worldId: number,
  versionIds: readonly number[],
): Promise<HeldVersion[]> {
  if (versionIds.length === 0) return [];
  const ids = [...new Set(versionIds)];
  const events = await trx
    .selectFrom('events')
    .select(['id', 'name'])
    .where('world_id', '=', worldId)
    .where('id', 'in', trx.selectFrom('event_versions').select('event_id').where('id', 'in', ids))
    .orderBy('id')
    .forKeyShare()
    .execute();
  const rows = await trx
    .selectFrom('event_versions')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const found = rows.flatMap((row) => {
    const event = events.find(({ id }) => id === row.event_id);
    return event === undefined ? [] : [{ ...row, event: event.name }];
  });
  if (found.length < ids.length) throw new ServiceError('unknown_event_version');
  return found;
}

export const insertVersion = (
  trx: Trx,
  eventId: number,
  version: number,
  definition: StoredVersion,
  now: Date,
): Promise<VersionRow> =>
  trx
    .insertInto('event_versions')
    .values({
      event_id: eventId,
      version,
      definition: json(definition),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Writes to a version that the caller has locked and seen to be a draft; a second check in the database. */
const updateDraft = (trx: Trx, id: number) =>
  trx.updateTable('event_versions').where('id', '=', id).where('locked_at', 'is', null).returningAll();

export const replaceDefinition = (
  trx: Trx,
  id: number,
  definition: StoredVersion,
  now: Date,
): Promise<VersionRow> =>
  updateDraft(trx, id)
    .set({ definition: json(definition), updated_at: now })
    .executeTakeFirstOrThrow();

/** Locks a draft that is held `editing`, for ever: it gets copies of its schemas, and its hash is fixed. */
export async function lockVersion(
  trx: Trx,
  worldId: number,
  version: VersionRow,
  now: Date,
): Promise<VersionRow> {
  const { id, definition } = version;
  const names = usesAllSchemas(definition) ? 'all' : schemasNamed(definition);
  const schemas = await holdSchemas(trx, worldId, names);
  await addLinks(trx, id, schemas);
  return updateDraft(trx, id)
    .set({
      locked_at: now,
      frozen_schemas: json(definitionsOf(schemas)),
      version_hash: versionHash(definition, hashesOf(schemas)),
      updated_at: now,
    })
    .executeTakeFirstOrThrow();
}

/** Links a version to schemas, which then cannot be deleted. */
export async function addLinks(
  trx: Trx,
  versionId: number,
  schemas: readonly Pick<EntitySchemaRow, 'id'>[],
): Promise<void> {
  if (schemas.length === 0) return;
  await trx
    .insertInto('version_schemas')
    .values(schemas.map(({ id }) => ({ version_id: versionId, schema_id: id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function removeLinks(trx: Trx, versionId: number): Promise<void> {
  await trx.deleteFrom('version_schemas').where('version_id', '=', versionId).execute();
}

/** Deletes a version of an event that is held `editing`. */
export async function deleteVersion(trx: Trx, { id, event_id }: VersionRow): Promise<void> {
  await trx.deleteFrom('event_versions').where('id', '=', id).where('locked_at', 'is', null).execute();
  await trx
    .updateTable('events')
    .set((event) => ({ version_count: event('version_count', '-', 1) }))
    .where('id', '=', event_id)
    .execute();
}

export async function hasLockedVersion(trx: Trx, eventId: number): Promise<boolean> {
  const locked = await trx
    .selectFrom('event_versions')
    .select('id')
    .where('event_id', '=', eventId)
    .where('locked_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return locked !== undefined;
}

/** Without the frozen schemas, which lists do not show. */
export const listVersions = (db: Db, eventId: number, query: PageQuery): Promise<ListedVersion[]> =>
  page(
    db.selectFrom('event_versions').select(LISTED).where('event_id', '=', eventId).orderBy('version'),
    query,
  ).execute();

const LISTED = [
  'id',
  'event_id',
  'version',
  'definition',
  'locked_at',
  'version_hash',
  'created_at',
  'updated_at',
] as const;

export type ListedVersion = Pick<VersionRow, (typeof LISTED)[number]>;

/** The version of an event by their names. */
export async function findVersionId(
  db: Db,
  worldId: number,
  event: string,
  version: number,
): Promise<number | null> {
  const row = await db
    .selectFrom('event_versions')
    .innerJoin('events', 'events.id', 'event_versions.event_id')
    .select('event_versions.id')
    .where('events.world_id', '=', worldId)
    .where('events.name', '=', event)
    .where('event_versions.version', '=', version)
    .executeTakeFirst();
  return row?.id ?? null;
}
