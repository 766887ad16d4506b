import { type PageQuery, ServiceError } from '@orrery/contracts';
import { page } from '@orrery/database';
import { type Db, json, type Trx } from '../database/db.js';
import type { VersionRow } from '../database/schema.js';
import type { StoredVersion } from './stored-version.js';

/** `editing` excludes other editors; `alone` (deletion) also those who claim the version. */
export type VersionHold = 'editing' | 'alone';

const selectVersion = (db: Db, eventId: number, version: number) =>
  db.selectFrom('event_versions').selectAll().where('event_id', '=', eventId).where('version', '=', version);

const orNotFound = (row: VersionRow | undefined): VersionRow => {
  if (row === undefined) throw new ServiceError('event_version_not_found');
  return row;
};

/** @throws ServiceError `event_version_not_found`. */
export const findVersion = async (db: Db, eventId: number, version: number): Promise<VersionRow> =>
  orNotFound(await selectVersion(db, eventId, version).executeTakeFirst());

/** The version, locked until the transaction ends. @throws ServiceError `event_version_not_found`. */
export async function holdVersion(
  trx: Trx,
  eventId: number,
  version: number,
  hold: VersionHold,
): Promise<VersionRow> {
  const query = selectVersion(trx, eventId, version);
  const held = hold === 'alone' ? query.forUpdate() : query.forNoKeyUpdate();
  return orNotFound(await held.executeTakeFirst());
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
