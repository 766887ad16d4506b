import {
  type CreateEventBody,
  cutText,
  didYouMean,
  type EventRecord,
  type PageQuery,
  ServiceError,
  type UpdateEventBody,
} from '@orrery/contracts';
import { page } from '@orrery/database';
import { sql } from 'kysely';
import type { Db, Trx } from '../database/db.js';
import type { EventRow } from '../database/schema.js';

/**
 * How a write locks the event's row: `shared` keeps it there under its name; `numbering` while a version gets its number
 * or is deleted; `alone` for deletion and renaming, which wait for all others.
 */
export type EventHold = 'shared' | 'numbering' | 'alone';

/** The highest version that exists, read from the unique index on (event_id, version). */
const latest = sql<
  number | null
>`(select version from event_versions where event_id = events.id order by version desc limit 1)`.as('latest');

export type ListedEvent = EventRow & { latest: number | null };

async function orNotFound<T>(row: T | undefined, db: Db, worldId: number, name: string): Promise<T> {
  if (row !== undefined) return row;
  throw new ServiceError('event_not_found', noSuchEvent(name, await eventNames(db, worldId)));
}

/** The names of a world's events; a world has at most some hundreds. */
export async function eventNames(db: Db, worldId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('events')
    .select('name')
    .where('world_id', '=', worldId)
    .orderBy('id')
    .execute();
  return rows.map(({ name }) => name);
}

/** Says that a name is none of the known events, and which one may be meant. */
export const noSuchEvent = (name: string, known: readonly string[]): string =>
  `The world has no event "${cutText(name, 255)}".${didYouMean(name, known)}`;

/** @throws ServiceError `event_not_found`. */
export const findEvent = async (db: Db, worldId: number, name: string): Promise<ListedEvent> =>
  orNotFound(
    await db
      .selectFrom('events')
      .selectAll()
      .select(latest)
      .where('world_id', '=', worldId)
      .where('name', '=', name)
      .executeTakeFirst(),
    db,
    worldId,
    name,
  );

/** The event, locked until the transaction ends. @throws ServiceError `event_not_found`. */
export async function holdEvent(trx: Trx, worldId: number, name: string, hold: EventHold): Promise<EventRow> {
  const query = trx.selectFrom('events').selectAll().where('world_id', '=', worldId).where('name', '=', name);
  const held = { shared: query.forKeyShare(), numbering: query.forNoKeyUpdate(), alone: query.forUpdate() };
  return orNotFound(await held[hold].executeTakeFirst(), trx, worldId, name);
}

export const insertEvent = (
  trx: Trx,
  worldId: number,
  { name, description }: CreateEventBody,
  now: Date,
): Promise<EventRow> =>
  trx
    .insertInto('events')
    .values({ world_id: worldId, name, description: description ?? null, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();

export const updateEvent = (
  trx: Trx,
  id: number,
  { name, description }: UpdateEventBody,
  now: Date,
): Promise<ListedEvent> =>
  trx
    .updateTable('events')
    .set({
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      updated_at: now,
    })
    .where('id', '=', id)
    .returningAll()
    .returning(latest)
    .executeTakeFirstOrThrow();

export async function deleteEvent(trx: Trx, id: number): Promise<void> {
  await trx.deleteFrom('events').where('id', '=', id).execute();
}

export const eventsPage = (db: Db, worldId: number, query: PageQuery) =>
  page(
    db.selectFrom('events').selectAll().select(latest).where('world_id', '=', worldId).orderBy('id'),
    query,
  );

/** Assigns the next version number of an event that is held `numbering`. A number is never assigned twice. */
export async function takeNumber(trx: Trx, eventId: number, limit: number): Promise<number> {
  const taken = await trx
    .updateTable('events')
    .set((event) => ({
      last_version: event('last_version', '+', 1),
      version_count: event('version_count', '+', 1),
    }))
    .where('id', '=', eventId)
    .where('version_count', '<', limit)
    .returning('last_version')
    .executeTakeFirst();
  if (taken === undefined)
    throw new ServiceError('limit_reached', `An event may have at most ${limit} versions.`);
  return taken.last_version;
}

export async function dropNumber(trx: Trx, eventId: number): Promise<void> {
  await trx
    .updateTable('events')
    .set((event) => ({ version_count: event('version_count', '-', 1) }))
    .where('id', '=', eventId)
    .execute();
}

/** `latest`: the highest version that exists, null without any. */
export const toEventRecord = (row: EventRow & { latest: number | null }): EventRecord => ({
  id: row.id,
  worldId: row.world_id,
  name: row.name,
  description: row.description,
  latestVersion: row.latest,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
