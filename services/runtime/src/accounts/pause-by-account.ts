import { serviceCall } from '@orrery/bus';
import type { CallContext, OwnedRpcs, RequestOf } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { changeItem } from '../deployments/change-item.js';
import type { DeploymentDirectory } from '../deployments/deployment-directory.js';
import type { Lanes } from '../lanes/lanes.js';
import { partitionOf } from '../ownership/partitions.js';
import type { RouteToOwner } from '../ownership/route-to-owner.js';
import { type PendingPause, pendingPauses } from './account-store.js';

/** Deployments that are notified at once. */
const AT_ONCE = 100;
const TIMEOUT_MS = 10_000;

export interface PauseDependencies {
  readonly db: Db;
  readonly clock: Pick<Clock, 'now'>;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly directory: Pick<DeploymentDirectory, 'byAddress'>;
  readonly route: RouteToOwner;
}

type PauseByAccount = RequestOf<OwnedRpcs['service']['accounts.pause']>;

/** At the owner: one of the three causes of `isPaused`, lifted only by the account being enabled. @throws NotOwner */
export async function pauseHere(
  { lanes, directory }: Pick<PauseDependencies, 'lanes' | 'directory'>,
  { address, paused }: PauseByAccount,
  call: CallContext,
): Promise<null> {
  const deployment = await directory.byAddress(address);
  if (deployment === undefined) return null;
  const kind = paused ? 'paused' : 'resumed';
  await lanes.submit(
    changeItem(deployment, call, (state) =>
      state.row.account_paused === paused
        ? undefined
        : { kind, facts: { by: 'account' }, columns: { account_paused: paused } },
    ),
  );
  return null;
}

/** Notifies the owners of all deployments whose account was disabled or enabled. @throws the error of an owner */
export async function notifyDeployments(dependencies: PauseDependencies, signal: AbortSignal): Promise<void> {
  for (;;) {
    const pending = await pendingPauses(dependencies.db, AT_ONCE);
    await Promise.all(pending.map((deployment) => notify(dependencies, deployment, signal)));
    if (pending.length < AT_ONCE || signal.aborted) return;
  }
}

function notify(
  dependencies: PauseDependencies,
  { id, address, paused }: PendingPause,
  signal: AbortSignal,
): Promise<null> {
  const call: CallContext = { ...serviceCall('gateway', dependencies.clock, TIMEOUT_MS), signal };
  const request: PauseByAccount = { address, paused };
  const here = () => pauseHere(dependencies, request, call);
  return dependencies.route({ name: 'accounts.pause', partition: partitionOf(id), request, here }, call);
}
