import type { definitionRpcs, Handlers } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { ConfirmDependencies } from './confirm-definitions.js';
import { confirmDefinitions } from './confirm-definitions.js';
import type { LockDependencies } from './lock-definitions.js';
import { lockDefinitions } from './lock-definitions.js';

type DefinitionRpcs = Pick<
  typeof definitionRpcs,
  'definitions.confirm' | 'definitions.find' | 'definitions.lock'
>;

export function definitionHandlers(
  context: ConfirmDependencies & LockDependencies,
): Handlers<DefinitionRpcs> {
  const { db } = context;
  return {
    'definitions.confirm': (asked) => confirmDefinitions(context, asked),

    'definitions.find': async ({ worldId, event, version }) => {
      const row = await db
        .selectFrom('event_versions')
        .innerJoin('events', 'events.id', 'event_versions.event_id')
        .select('event_versions.id')
        .where('events.world_id', '=', worldId)
        .where('events.name', '=', event)
        .where('event_versions.version', '=', version)
        .executeTakeFirst();
      return { versionId: row?.id ?? null };
    },

    'definitions.lock': ({ worldId, versionIds }) =>
      transaction(db, (trx) => lockDefinitions(context, trx, worldId, versionIds)),
  };
}
