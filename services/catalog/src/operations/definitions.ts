import {
  type definitionRpcs,
  type Handlers,
  ServiceError,
  type VersionDefinition,
  type WorldTexts,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { putClaims, releaseAll, releaseSeen } from '../store/claims/claim-store.js';
import { holdSchemasNamed, holdVersionsNamed } from '../store/claims/claim-targets.js';
import { confirmDefinitions } from '../store/definitions/confirm-definitions.js';
import { loadVersionDefinitions, toWorldTexts } from '../store/definitions/load-definitions.js';
import { findVersionId, holdVersions, lockVersion } from '../store/events/version-store.js';
import { toSchemaDefinition } from '../store/schemas/schema-store.js';
import { nowOf, type Trx } from '../store/tables/db.js';
import { holdWorldById, ownWorld } from '../store/worlds/world-access.js';
import type { CatalogContext } from './operation.js';

/** What other services ask. */
export const definitionHandlers = (context: CatalogContext): Handlers<typeof definitionRpcs> => ({
  'definitions.confirm': (asked) => confirmDefinitions(context, asked),

  'definitions.find': async ({ worldId, event, version }) => ({
    versionId: await findVersionId(context.db, worldId, event, version),
  }),

  'definitions.lock': ({ worldId, versionIds }) =>
    transaction(context.db, (trx) => lockDefinitions(context, trx, worldId, versionIds)),

  'claims.world': ({ world, deployment }, { caller }) =>
    transaction(context.db, async (trx) => {
      const { id, address } = await ownWorld(trx, world, caller, 'shared');
      await putClaims(trx, { deployment, worldId: id, now: nowOf(context) }, 'world', [id]);
      return { worldId: id, worldAddress: address };
    }),

  'claims.versions': ({ worldId, deployment, versions }) =>
    transaction(context.db, async (trx) => {
      await holdWorldById(trx, worldId);
      const ids = await holdVersionsNamed(trx, worldId, versions);
      const revisions = await putClaims(trx, { deployment, worldId, now: nowOf(context) }, 'version', ids);
      return { definitions: await loadVersionDefinitions(trx, ids), revisions };
    }),

  'claims.schemas': ({ worldId, deployment, schemas }) =>
    transaction(context.db, async (trx) => {
      await holdWorldById(trx, worldId);
      const rows = await holdSchemasNamed(trx, worldId, schemas);
      const ids = rows.map(({ id }) => id);
      const revisions = await putClaims(trx, { deployment, worldId, now: nowOf(context) }, 'schema', ids);
      return { definitions: rows.map(toSchemaDefinition), revisions };
    }),

  'claims.release': ({ deployment, ...some }) =>
    transaction(context.db, async (trx) => {
      const isAll = Object.values(some).every((list) => list === undefined);
      if (isAll) return { released: await releaseAll(trx, deployment) };
      const versions = await releaseSeen(trx, deployment, 'version', some.versions ?? []);
      const schemas = await releaseSeen(trx, deployment, 'schema', some.schemas ?? []);
      return { released: versions + schemas };
    }),
});

/**
 * Locks versions for the lock of a deployment, all or none, and returns them. Idempotent: repeating it completes a lock
 * of a deployment that was interrupted.
 */
async function lockDefinitions(
  context: CatalogContext,
  trx: Trx,
  worldId: number,
  versionIds: readonly number[],
): Promise<{ definitions: VersionDefinition[]; world: WorldTexts }> {
  const world = await holdWorldById(trx, worldId);
  if (world === undefined) throw new ServiceError('unknown_event');
  const drafts = (await holdVersions(trx, worldId, versionIds)).filter(({ locked_at }) => locked_at === null);
  for (const { event, ...version } of drafts) {
    await lockVersion(trx, worldId, version, nowOf(context));
    await context.announce(trx, world, 'event_version', { ...version, name: event }, 'locked');
  }
  return { definitions: await loadVersionDefinitions(trx, versionIds), world: toWorldTexts(world) };
}
