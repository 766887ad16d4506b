import { type definitionRpcs, type Handlers, ServiceError, type WorldTexts } from '@orrery/contracts';
import { announce } from '../store/changes.js';
import { putClaims, releaseAll, releaseSeen } from '../store/claims/claim-store.js';
import { holdSchemasNamed, holdVersionsNamed } from '../store/claims/claim-targets.js';
import { confirmDefinitions } from '../store/definitions/confirm-definitions.js';
import { loadVersionDefinitions, toWorldTexts } from '../store/definitions/load-definitions.js';
import { findVersionId, holdVersions, lockVersion } from '../store/events/version-store.js';
import { indexedSchemas, toSchemaDefinition } from '../store/schemas/schema-store.js';
import { holdWorldById, ownWorld } from '../store/worlds/world-access.js';
import { describeWorld } from '../store/worlds/world-store.js';
import { type CatalogContext, type Change, changing } from './operation.js';

const INDEXED_AT_ONCE = 1000;

/** What other services ask. */
export const definitionHandlers = (
  context: CatalogContext,
): Handlers<Omit<typeof definitionRpcs, 'definitions.draft'>> => ({
  'definitions.confirm': (asked) => confirmDefinitions(context, asked),

  'definitions.find': async ({ worldId, event, version }) => ({
    versionId: await findVersionId(context.db, worldId, event, version),
  }),

  'definitions.indexed': async ({ after }) => {
    const schemas = await indexedSchemas(context.db, after, INDEXED_AT_ONCE);
    const last = schemas.length < INDEXED_AT_ONCE ? undefined : schemas.at(-1);
    return { schemas, next: last?.schemaId ?? null };
  },

  'definitions.describe': async ({ worldId, eventIds }) => describeWorld(context.db, worldId, eventIds),

  'definitions.lock': ({ worldId, versionIds, withoutDefinitions }, call) =>
    changing(context, call, async (change) => {
      const world = await lockDefinitions(change, worldId, versionIds);
      const answered = withoutDefinitions ? [] : versionIds;
      return { definitions: await loadVersionDefinitions(change.trx, answered), world };
    }),

  'claims.world': ({ world, deployment }, call) =>
    changing(context, call, async (change) => {
      const { id, address } = await ownWorld(change, world, 'shared');
      await putClaims(change, { deployment, worldId: id }, 'world', [id]);
      return { worldId: id, worldAddress: address };
    }),

  'claims.versions': ({ worldId, deployment, versions, withoutDefinitions }, call) =>
    changing(context, call, async (change) => {
      await holdWorldById(change.trx, worldId);
      const ids = await holdVersionsNamed(change.trx, worldId, versions);
      const revisions = await putClaims(change, { deployment, worldId }, 'version', ids);
      if (withoutDefinitions) return { definitions: [], versionIds: ids, revisions };
      return { definitions: await loadVersionDefinitions(change.trx, ids), revisions };
    }),

  'claims.schemas': ({ worldId, deployment, schemas }, call) =>
    changing(context, call, async (change) => {
      await holdWorldById(change.trx, worldId);
      const rows = await holdSchemasNamed(change.trx, worldId, schemas);
      const ids = rows.map(({ id }) => id);
      const revisions = await putClaims(change, { deployment, worldId }, 'schema', ids);
      return { definitions: rows.map(toSchemaDefinition), revisions };
    }),

  'claims.release': ({ deployment, ...some }, call) =>
    changing(context, call, async ({ trx }) => {
      const isAll = Object.values(some).every((list) => list === undefined);
      if (isAll) return { released: await releaseAll(trx, deployment) };
      const versions = await releaseSeen(trx, deployment, 'version', some.versions ?? []);
      const schemas = await releaseSeen(trx, deployment, 'schema', some.schemas ?? []);
      return { released: versions + schemas };
    }),
});

/**
 * Locks versions for the lock of a deployment, all or none, and returns the world's texts. Idempotent: repeating it
 * completes a lock of a deployment that was interrupted.
 */
async function lockDefinitions(
  change: Change,
  worldId: number,
  versionIds: readonly number[],
): Promise<WorldTexts> {
  const { trx, now } = change;
  const world = await holdWorldById(trx, worldId);
  if (world === undefined) throw new ServiceError('unknown_event');
  const drafts = (await holdVersions(trx, worldId, versionIds)).filter(({ locked_at }) => locked_at === null);
  for (const { event, ...version } of drafts) {
    await lockVersion(trx, worldId, version, now);
    await announce(change, world, 'event_version', { ...version, name: event }, 'locked');
  }
  return toWorldTexts(world);
}
