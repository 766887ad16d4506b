import { parseReference, type Reference } from '@orrery/contracts';
import { LRUCache } from 'lru-cache';
import type { Db } from '../database/db.js';

/** What never changes about a deployment. */
export interface KnownDeployment {
  readonly id: number;
  readonly address: string;
  readonly worldId: number;
  readonly worldAddress: string;
  readonly ownerAccountId: number;
}

export interface DeploymentPath {
  readonly worldAddress: string;
  readonly address: string;
}

/** Finds deployments by what paths say; on any process, without asking the owner. */
export interface DeploymentDirectory {
  /** `undefined` when there is none, or it is in another world. A deleted one is found: its owner knows. */
  find(path: DeploymentPath): Promise<KnownDeployment | undefined>;
  byAddress(address: string): Promise<KnownDeployment | undefined>;
}

const KEPT = 50_000;

export function createDeploymentDirectory(db: Db): DeploymentDirectory {
  const known = new LRUCache<string, KnownDeployment>({ max: KEPT });

  const lookUp = async (segment: string): Promise<KnownDeployment | undefined> => {
    const remembered = known.get(segment);
    if (remembered !== undefined) return remembered;
    const reference = parseReference(segment);
    const found = reference && (await read(db, reference));
    if (found !== undefined) known.set(segment, found);
    return found;
  };
  return {
    byAddress: lookUp,
    find: async ({ worldAddress, address }) => {
      const found = await lookUp(address);
      return found !== undefined && isInWorld(found, worldAddress) ? found : undefined;
    },
  };
}

/** A path may name the world by its id or by its address. */
export function isInWorld(
  { worldId, worldAddress }: Pick<KnownDeployment, 'worldId' | 'worldAddress'>,
  segment: string,
): boolean {
  const reference = parseReference(segment);
  if (reference === undefined) return false;
  return 'id' in reference ? reference.id === worldId : reference.address === worldAddress;
}

const read = (db: Db, reference: Reference): Promise<KnownDeployment | undefined> =>
  db
    .selectFrom('deployments')
    .select([
      'id',
      'address',
      'world_id as worldId',
      'world_address as worldAddress',
      'owner_account_id as ownerAccountId',
    ])
    .where((where) =>
      'id' in reference ? where('id', '=', reference.id) : where('address', '=', reference.address),
    )
    .executeTakeFirst();
