import { type Caller, parseReference, ServiceError } from '@orrery/contracts';
import { isOwner, isVisible } from '../../core/worlds.js';
import { type Db, type Hold, held, type Trx } from '../tables/db.js';
import type { WorldRow } from '../tables/schema.js';

const notFound = () =>
  new ServiceError(
    'world_not_found',
    'No world that you may see has this address or id. A path takes no name: GET /api/worlds lists your addresses.',
  );

const selectWorld = (db: Db, segment: string) => {
  const reference = parseReference(segment);
  if (reference === undefined) throw notFound();
  const query = db.selectFrom('worlds').selectAll();
  return 'id' in reference
    ? query.where('id', '=', reference.id)
    : query.where('address', '=', reference.address);
};

/** The world of a path, if the caller may see it. @throws ServiceError `world_not_found`. */
export async function visibleWorld(db: Db, segment: string, caller: Caller): Promise<WorldRow> {
  const world = await selectWorld(db, segment).executeTakeFirst();
  if (world === undefined || !isVisible(world, caller)) throw notFound();
  return world;
}

/**
 * The caller's own world, locked until the transaction ends.
 *
 * @throws ServiceError `world_not_found` when it is absent or not visible, `forbidden` when it is another's.
 */
export async function ownWorld(
  { trx, caller }: { readonly trx: Trx; readonly caller: Caller },
  segment: string,
  hold: Hold,
): Promise<WorldRow> {
  // Rows of other accounts are never locked: a stranger must not be able to delay an owner.
  const seen = await visibleWorld(trx, segment, caller);
  if (!isOwner(seen, caller)) throw new ServiceError('forbidden', 'Only its owner may change the world.');
  const query = trx.selectFrom('worlds').selectAll().where('id', '=', seen.id);
  const world = await held(query, hold).executeTakeFirst();
  if (world === undefined) throw notFound();
  return world;
}

/** Locks a world against deletion. It is locked first, as deletions do. */
export const holdWorldById = (trx: Trx, worldId: number): Promise<WorldRow | undefined> =>
  trx.selectFrom('worlds').selectAll().where('id', '=', worldId).forKeyShare().executeTakeFirst();
