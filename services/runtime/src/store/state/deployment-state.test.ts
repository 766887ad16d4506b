import type { CallContext, VersionDefinition } from '@orrery/contracts';
import { expect, it } from 'vitest';
import type { WorkItem } from '../../lane/items/work-item.js';
import { lockItem } from '../../operations/deployments/handlers.js';
import type { KnownDeployment } from '../deployments/deployment-directory.js';
import type { DeploymentState } from './deployment-state.js';

const stateWith = (...versionIds: number[]) =>
  ({
    row: { mode: 'upgradable', ai_model_id: null, owner_account_id: 1, is_kept: null },
    runs: new Map(),
    bindings: new Map(versionIds.map((versionId) => [`e${versionId}`, { versionId }])),
  }) as unknown as DeploymentState;

/** What the lock decides when these versions were bound as it locked them, and those when it decides. */
async function lockBetween(before: number[], after: number[]): Promise<string> {
  const lock = async (_world: number, bound: readonly { readonly versionId: number }[]) => ({
    definitions: bound.map(({ versionId: id }) => ({ versionId: id, event: `e${id}` }) as VersionDefinition),
    world: {} as never,
  });
  const models = { offered: [] };
  const item: WorkItem<unknown> = lockItem(
    { catalog: { lock } as never, models },
    { id: 1, worldId: 1, address: '0x1' } as KnownDeployment,
    { caller: { kind: 'account', accountId: 1, scopes: [] } } as unknown as CallContext,
  );
  await item.prepare(stateWith(...before));
  return item.decide(stateWith(...after), {} as never, 0).kind;
}

it('a lock locks exactly the versions that are bound when it is decided', async () => {
  expect(await lockBetween([1, 2], [1, 2])).toBe('commit');
  expect(await lockBetween([1], [1, 2])).toBe('prepare');
  expect(await lockBetween([1, 2], [1])).toBe('prepare');
  expect(await lockBetween([1], [2])).toBe('prepare');
});
