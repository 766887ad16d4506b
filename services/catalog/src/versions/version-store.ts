import { type PageQuery, ServiceError } from '@orrery/contracts';
import { page } from '@orrery/database';
import { type Db, json, type Trx } from '../database/db.js';
import type { VersionRow } from '../database/schema.js';
import type { StoredVersion } from './stored-version.js';

/** `editing` excludes other editors; `alone` (deletion) also those who claim the version. */
export type VersionHold = 'editing' | 'alone';

const selectVersion = (db: Db, eventId: number, version: number) =>
  db.selectFrom('event_versions').selectAll().where('event_id', '=', eventId).where('version', '=', version);

async function orNotFound(
  row: VersionRow | undefined,
  db: Db,
  eventId: number,
  version: number,
): Promise<VersionRow> {
  if (row !== undefined) return row;
  const numbers = await lastVersions(db, eventId);
  throw new ServiceError('event_version_not_found', noSuchVersion('The event', version, numbers));
}

/** The highest version numbers of an event, highest first; one more than `noSuchVersion` names. */
export async function lastVersions(db: Db, eventId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('event_versions')
    .select('version')
    .where('event_id', '=', eventId)
    .orderBy('version', 'desc')
    .limit(MAX_NUMBERS + 1)
    .execute();
  return rows.map(({ version }) => version);
}

const MAX_NUMBERS = 10;

/** Says that an event lacks a version, and which it has. */
export function noSuchVersion(event: string, version: number, numbers: readonly number[]): string {
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
  hold: VersionHold,
): Promise<VersionRow> {
  const query = selectVersion(trx, eventId, version);
  const held = hold === 'alone' ? query.forUpdate() : query.forNoKeyUpdate();
  return orNotFound(await held.executeTakeFirst(), trx, eventId, version);
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

export const replaceDefinition = (
  trx: Trx,
  id: number,
  definition: StoredVersion,
  now: Date,
): Promise<VersionRow> =>
  trx
    .updateTable('event_versions')
    .set({ definition: json(definition), updated_at: now })
    .where('id', '=', id)
    // The caller has locked the row and seen that the version is not locked; a second check in the database.
    .where('locked_at', 'is', null)
    .returningAll()
    .executeTakeFirstOrThrow();

export async function deleteVersion(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom('event_versions').where('id', '=', id).where('locked_at', 'is', null).execute();
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
export const versionsPage = (db: Db, eventId: number, query: PageQuery) =>
  page(
    db
      .selectFrom('event_versions')
      .select([
        'id',
        'event_id',
        'version',
        'definition',
        'locked_at',
        'version_hash',
        'created_at',
        'updated_at',
      ])
      .where('event_id', '=', eventId)
      .orderBy('version'),
    query,
  );
