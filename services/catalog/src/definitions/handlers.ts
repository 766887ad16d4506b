import type { definitionRpcs, Handlers } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { ConfirmDependencies } from './confirm-definitions.js';
import { confirmDefinitions } from './confirm-definitions.js';
import type { LockDependencies } from './lock-definitions.js';
import { lockDefinitions } from './lock-definitions.js';

type DefinitionRpcs = Pick<typeof definitionRpcs, 'definitions.confirm' | 'definitions.lock'>;

export function definitionHandlers(
  context: ConfirmDependencies & LockDependencies,
): Handlers<DefinitionRpcs> {
  const { db } = context;
  return {
    'definitions.confirm': (asked) => confirmDefinitions(context, asked),

    'definitions.lock': ({ worldId, versionIds }) =>
      transaction(db, (trx) => lockDefinitions(context, trx, worldId, versionIds)),
  };
}
