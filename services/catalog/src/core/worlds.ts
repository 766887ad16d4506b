import { accountOf, type Caller, ServiceError } from '@orrery/contracts';

/** What decides who may see a world, as its row says it. */
interface Owned {
  readonly owner_account_id: number;
  readonly is_public: boolean;
}

/** @throws ServiceError `unauthorized` when no account calls. */
export function requireAccount(caller: Caller): number {
  const account = accountOf(caller);
  if (account === undefined) throw new ServiceError('unauthorized');
  return account;
}

export const isOwner = (world: Owned, caller: Caller): boolean =>
  world.owner_account_id === accountOf(caller);

/** A world is visible to its owner, and to every account if it is published. */
export const isVisible = (world: Owned, caller: Caller): boolean =>
  isOwner(world, caller) || (world.is_public && caller.kind !== 'anonymous');
