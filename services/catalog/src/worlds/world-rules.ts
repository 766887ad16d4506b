import { accountOf, type Caller, ServiceError, type WorldRecord } from '@orrery/contracts';
import type { WorldRow } from '../database/schema.js';

/** @throws ServiceError `unauthorized` when no account calls. */
export function requireAccount(caller: Caller): number {
  const account = accountOf(caller);
  if (account === undefined) throw new ServiceError('unauthorized');
  return account;
}

type Owned = Pick<WorldRow, 'owner_account_id' | 'is_public'>;

export const isOwner = (world: Owned, caller: Caller): boolean =>
  world.owner_account_id === accountOf(caller);

/** A world is visible to its owner, and to every account if it is published. */
export const isVisible = (world: Owned, caller: Caller): boolean =>
  isOwner(world, caller) || (world.is_public && caller.kind !== 'anonymous');

/** The world as the caller may see it: only its owner gets `promptSeed`. */
export function toWorldRecord(row: WorldRow, caller: Caller): WorldRecord {
  return {
    id: row.id,
    address: row.address,
    name: row.name,
    description: row.description,
    domainTags: row.domain_tags,
    ...(isOwner(row, caller) && { promptSeed: row.prompt_seed }),
    isPublic: row.is_public,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
