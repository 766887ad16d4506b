import { ServiceError } from '@orrery/contracts';
import type { CatalogTransaction } from '../context.js';

type Members = 'schema_count' | 'event_count';
const NAMES: Readonly<Record<Members, string>> = { schema_count: 'entity schemas', event_count: 'events' };

/** Counts one more in a world that is held `counting`. @throws ServiceError `limit_reached`. */
export async function addMember(
  trx: CatalogTransaction,
  worldId: number,
  members: Members,
  limit: number,
): Promise<void> {
  const counted = await trx
    .updateTable('worlds')
    .set((row) => ({ [members]: row(members, '+', 1) }))
    .where('id', '=', worldId)
    .where(members, '<', limit)
    .executeTakeFirst();
  if (counted.numUpdatedRows === 0n)
    throw new ServiceError('limit_reached', `A world may have at most ${limit} ${NAMES[members]}.`);
}

export async function removeMember(
  trx: CatalogTransaction,
  worldId: number,
  members: Members,
): Promise<void> {
  await trx
    .updateTable('worlds')
    .set((row) => ({ [members]: row(members, '-', 1) }))
    .where('id', '=', worldId)
    .execute();
}
