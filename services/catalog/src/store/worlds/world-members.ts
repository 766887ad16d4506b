import { ServiceError } from '@orrery/contracts';
import { noSuch } from '../../core/problems.js';
import type { Db, Trx } from '../tables/db.js';

/** The tables of what a world has by name. */
const MEMBERS = {
  entity_schemas: { noun: 'entity schema', counter: 'schema_count', notFound: 'entity_schema_not_found' },
  events: { noun: 'event', counter: 'event_count', notFound: 'event_not_found' },
} as const;

export type Members = keyof typeof MEMBERS;

/** A world has at most some hundreds. */
export async function namesIn(db: Db, members: Members, worldId: number): Promise<string[]> {
  const query = db.selectFrom(members as 'events').select('name');
  const rows = await query.where('world_id', '=', worldId).orderBy('id').execute();
  return rows.map(({ name }) => name);
}

/** Says that a name is none of the known members, and which one may be meant. */
export const noSuchMember = (members: Members, name: string, known: readonly string[]): string =>
  noSuch('The world', MEMBERS[members].noun, name, known);

/** The member that was found. @throws ServiceError `…_not_found` */
export async function orNotFound<T>(
  row: T | undefined,
  db: Db,
  members: Members,
  worldId: number,
  name: string,
): Promise<T> {
  if (row !== undefined) return row;
  const known = await namesIn(db, members, worldId);
  throw new ServiceError(MEMBERS[members].notFound, noSuchMember(members, name, known));
}

/** Counts one more member of a world that is held `editing`. @throws ServiceError `limit_reached`. */
export async function addMember(trx: Trx, worldId: number, members: Members, limit: number): Promise<void> {
  const { noun, counter } = MEMBERS[members];
  const counted = await trx
    .updateTable('worlds')
    .set((row) => ({ [counter]: row(counter, '+', 1) }))
    .where('id', '=', worldId)
    .where(counter, '<', limit)
    .executeTakeFirst();
  if (counted.numUpdatedRows === 0n)
    throw new ServiceError('limit_reached', `A world may have at most ${limit} ${noun}s.`);
}

/** Deletes a member of a world that is held `editing`. */
export async function deleteMember(trx: Trx, worldId: number, members: Members, id: number): Promise<void> {
  const { counter } = MEMBERS[members];
  await trx
    .deleteFrom(members as 'events')
    .where('id', '=', id)
    .execute();
  await trx
    .updateTable('worlds')
    .set((row) => ({ [counter]: row(counter, '-', 1) }))
    .where('id', '=', worldId)
    .execute();
}
