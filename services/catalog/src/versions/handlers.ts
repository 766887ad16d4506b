import {
  type Caller,
  type FieldProblem,
  type Handlers,
  paginationOf,
  refuseDeepPage,
  type VersionRecord,
  versionRpcs,
  withWarnings,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { createOnce } from '../changes/create-once.js';
import type { Db } from '../database/db.js';
import { findEvent } from '../events/event-store.js';
import { visibleWorld } from '../worlds/world-access.js';
import type { VersionDependencies } from './edit-version.js';
import {
  createVersion,
  type EditedVersion,
  editVersion,
  refuseLocked,
  removeVersion,
} from './edit-version.js';
import { lockVersion } from './lock-version.js';
import { changeVersion } from './save-version.js';
import { toVersionRecord } from './version-rules.js';
import { liveHashes } from './version-schemas.js';
import { findVersion, versionsPage } from './version-store.js';

/** A version as the API returns it. A draft's hash covers the current schemas. */
async function recordOf(db: Db, { world, row }: EditedVersion, caller: Caller): Promise<VersionRecord> {
  const drafts = row.locked_at === null ? [row.definition] : [];
  const hashesOf = await liveHashes(db, world.id, drafts);
  return toVersionRecord(row, world, hashesOf(row.definition), caller);
}

/** Likely mistakes that are allowed are told in the answer's message. */
function withMessage(data: VersionRecord, warnings: readonly FieldProblem[]) {
  const message = withWarnings(warnings);
  return { data, ...(message !== undefined && { message }) };
}

export function versionHandlers(context: VersionDependencies): Handlers<typeof versionRpcs> {
  const { db } = context;
  return {
    'versions.list': async ({ params, query }, { caller }) => {
      refuseDeepPage(query);
      const world = await visibleWorld(db, params.worldAddress, caller);
      const event = await findEvent(db, world.id, params.eventName);
      const rows = await versionsPage(db, event.id, query).execute();
      const drafts = rows.filter(({ locked_at }) => locked_at === null);
      const hashesOf = await liveHashes(
        db,
        world.id,
        drafts.map(({ definition }) => definition),
      );
      const data = rows.map((row) =>
        toVersionRecord({ ...row, event: event.name }, world, hashesOf(row.definition), caller),
      );
      return { data, pagination: paginationOf(query, event.version_count) };
    },

    'versions.create': (request, call) =>
      createOnce(context, versionRpcs['versions.create'], request, call, async (trx) => {
        const created = await createVersion(context, trx, request.params, request.body, call.caller);
        return withMessage(await recordOf(trx, created, call.caller), created.warnings);
      }),

    'versions.get': async ({ params }, { caller }) => {
      const world = await visibleWorld(db, params.worldAddress, caller);
      const event = await findEvent(db, world.id, params.eventName);
      const row = await findVersion(db, event.id, params.version);
      return { data: await recordOf(db, { world, row: { ...row, event: event.name } }, caller) };
    },

    'versions.update': async ({ params, body }, { caller }) =>
      transaction(db, async (trx) => {
        let warnings: readonly FieldProblem[] = [];
        const edited = await editVersion(context, trx, params, caller, async (world, current) => {
          refuseLocked(current);
          const saved = await changeVersion(context, trx, world.id, current, body);
          warnings = saved.warnings;
          return saved.version;
        });
        return withMessage(await recordOf(trx, edited, caller), warnings);
      }),

    'versions.lock': async ({ params }, { caller }) =>
      transaction(db, async (trx) => {
        let locks = false;
        const edited = await editVersion(context, trx, params, caller, (world, current) => {
          locks = current.locked_at === null;
          return lockVersion(context, trx, world.id, current);
        });
        const message = locks ? 'The version is now locked.' : 'The version was already locked.';
        return { data: await recordOf(trx, edited, caller), message };
      }),

    'versions.delete': async ({ params }, { caller }) => {
      await transaction(db, (trx) => removeVersion(context, trx, params, caller));
      return { data: { deleted: true } };
    },
  };
}
