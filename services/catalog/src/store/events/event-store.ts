import type { UpdateEventBody } from '@orrery/contracts';
import { type CreateEventBody, type EventRecord, type PageQuery, ServiceError } from '@orrery/contracts';
import { page } from '@orrery/database';
import { sql } from 'kysely';
import { type Db, type Hold, held, type Trx, timesOf } from '../tables/db.js';
import type { EventRow } from '../tables/schema.js';
import { orNotFound } from '../worlds/world-members.js';

/** The highest version that exists, read from the unique index on (event_id, version). */
const latest = sql<
  number | null
>`(select version from event_versions where event_id = events.id order by version desc limit 1)`.as('latest');

export type ListedEvent = EventRow & { latest: number | null };

const selectEvents = (db: Db, worldId: number) =>
  db.selectFrom('events').selectAll().where('world_id', '=', worldId);

/** @throws ServiceError `event_not_found`. */
export async function findEvent(db: Db, worldId: number, name: string): Promise<ListedEvent> {
  const row = await selectEvents(db, worldId).select(latest).where('name', '=', name).executeTakeFirst();
  return orNotFound(row, db, 'events', worldId, name);
}

/** The event, locked until the transaction ends. @throws ServiceError `event_not_found`. */
export async function holdEvent(trx: Trx, worldId: number, name: string, hold: Hold): Promise<EventRow> {
  const query = selectEvents(trx, worldId).where('name', '=', name);
  return orNotFound(await held(query, hold).executeTakeFirst(), trx, 'events', worldId, name);
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

/** Absent members stay. */
export const updateEvent = (
  trx: Trx,
  id: number,
  { name, description }: UpdateEventBody,
  now: Date,
): Promise<ListedEvent> =>
  trx
    .updateTable('events')
    .set({ name, description, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .returning(latest)
    .executeTakeFirstOrThrow();

export const listEvents = (db: Db, worldId: number, query: PageQuery): Promise<ListedEvent[]> =>
  page(selectEvents(db, worldId).select(latest).orderBy('id'), query).execute();

/** The number that the next version of an event would get; 1 where there is no such event. */
export async function nextNumber(db: Db, worldId: number, event: string): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select('last_version')
    .where('world_id', '=', worldId)
    .where('name', '=', event)
    .executeTakeFirst();
  return (row?.last_version ?? 0) + 1;
}

/** Assigns the next version number of an event that is held `editing`. A number is never assigned twice. */
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

/** `latest`: the highest version that exists, null without any. */
export const toEventRecord = (row: ListedEvent): EventRecord => ({
  id: row.id,
  worldId: row.world_id,
  name: row.name,
  description: row.description,
  latestVersion: row.latest,
  ...timesOf(row),
});
