import type { definitionRpcs, Handlers } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import { type Db, nowOf } from '../database/db.js';
import { loadVersionDefinitions } from '../definitions/load-definitions.js';
import { toSchemaDefinition } from '../entity-schemas/schema-rules.js';
import { ownWorld } from '../worlds/world-access.js';
import { putClaims, releaseAll, releaseSeen } from './claim-store.js';
import { holdSchemasNamed, holdVersionsNamed, holdWorldById } from './claim-targets.js';

/** What claims need. */
export interface ClaimDependencies {
  readonly db: Db;
  readonly clock: Clock;
}

type ClaimRpcs = Omit<typeof definitionRpcs, 'definitions.confirm' | 'definitions.find' | 'definitions.lock'>;

export function claimHandlers(context: ClaimDependencies): Handlers<ClaimRpcs> {
  const { db } = context;
  return {
    'claims.world': ({ world, deployment }, { caller }) =>
      transaction(db, async (trx) => {
        const { id, address } = await ownWorld(trx, world, caller, 'shared');
        await putClaims(trx, { deployment, worldId: id, now: nowOf(context) }, 'world', [id]);
        return { worldId: id, worldAddress: address };
      }),

    'claims.versions': ({ worldId, deployment, versions }) =>
      transaction(db, async (trx) => {
        await holdWorldById(trx, worldId);
        const ids = await holdVersionsNamed(trx, worldId, versions);
        const revisions = await putClaims(trx, { deployment, worldId, now: nowOf(context) }, 'version', ids);
        return { definitions: await loadVersionDefinitions(trx, ids), revisions };
      }),

    'claims.schemas': ({ worldId, deployment, schemas }) =>
      transaction(db, async (trx) => {
        await holdWorldById(trx, worldId);
        const rows = await holdSchemasNamed(trx, worldId, schemas);
        const ids = rows.map(({ id }) => id);
        const revisions = await putClaims(trx, { deployment, worldId, now: nowOf(context) }, 'schema', ids);
        return { definitions: rows.map(toSchemaDefinition), revisions };
      }),

    'claims.release': ({ deployment, ...some }) =>
      transaction(db, async (trx) => {
        const isAll = Object.values(some).every((list) => list === undefined);
        if (isAll) return { released: await releaseAll(trx, deployment) };
        const versions = await releaseSeen(trx, deployment, 'version', some.versions ?? []);
        const schemas = await releaseSeen(trx, deployment, 'schema', some.schemas ?? []);
        return { released: versions + schemas };
      }),
  };
}
