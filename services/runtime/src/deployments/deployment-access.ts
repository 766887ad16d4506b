import { type Caller, parseReference, type Reference, ServiceError } from '@orrery/contracts';
import type { Db } from '../database/db.js';
import type { SeenDeployment } from '../journal/handlers.js';
import type { DeploymentRow } from '../state/deployment-state.js';
import {
  type DeploymentDirectory,
  type DeploymentPath,
  isInWorld,
  type KnownDeployment,
} from './deployment-directory.js';
import { accountOf, notFound } from './deployment-rules.js';

/** Who may do what with a deployment (decisions §2): owners everything; others see what is public. */
export interface DeploymentAccess {
  /** The row as it is. @throws `deployment_not_found` for what is absent, deleted or not visible: all look the same. */
  visible(path: DeploymentPath, caller: Caller): Promise<DeploymentRow>;
  see(path: DeploymentPath, caller: Caller): Promise<SeenDeployment>;
  /** @throws `deployment_not_found` for what is absent or not visible, `forbidden` for what is visible. */
  owned(path: DeploymentPath, caller: Caller): Promise<KnownDeployment>;
}

export function createDeploymentAccess(db: Db, directory: DeploymentDirectory): DeploymentAccess {
  const visible = async (path: DeploymentPath, caller: Caller): Promise<DeploymentRow> => {
    const reference = parseReference(path.address);
    const row = reference && (await readRow(db, reference));
    if (row === undefined || !isPath(row, path.worldAddress) || !maySee(row, caller)) throw notFound();
    return row;
  };
  return {
    visible,
    see: async (path, caller) => {
      const row = await visible(path, caller);
      const isOwner = row.owner_account_id === accountOf(caller);
      return {
        id: row.id,
        address: row.address,
        source: row.source,
        isLLMPublic: row.is_llm_public,
        isOwner,
      };
    },
    owned: async (path, caller) => {
      const found = await directory.find(path);
      if (found === undefined) throw notFound();
      if (found.ownerAccountId === accountOf(caller)) return found;
      await visible(path, caller);
      throw new ServiceError('forbidden', 'Only the owner of a deployment may do this');
    },
  };
}

const isPath = (row: DeploymentRow, world: string): boolean =>
  isInWorld({ worldId: row.world_id, worldAddress: row.world_address }, world);

const maySee = (row: DeploymentRow, caller: Caller): boolean =>
  row.is_public || row.owner_account_id === accountOf(caller);

const readRow = (db: Db, reference: Reference): Promise<DeploymentRow | undefined> =>
  db
    .selectFrom('deployments')
    .selectAll()
    .where((where) =>
      'id' in reference ? where('id', '=', reference.id) : where('address', '=', reference.address),
    )
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
