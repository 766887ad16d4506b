import { serviceCall } from '@orrery/bus';
import type { CallContext, OwnedRpcs, RequestOf } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Lanes } from '../lanes/lanes.js';
import { partitionOf } from '../ownership/partitions.js';
import type { RouteToOwner } from '../ownership/route-to-owner.js';
import { changeItem } from './change-item.js';
import type { DeploymentDirectory } from './deployment-directory.js';

/**
 * What pauses a deployment beside its owner: its account was disabled, or the operator paused it. Each of the three
 * causes of `isPaused` is lifted only by who set it.
 */
export interface PauseCause {
  readonly name: 'account' | 'operator';
  /** The service in whose name the owners are called, as the journal shows it. */
  readonly caller: string;
  /** Some of the deployments that do not follow this cause yet. */
  readonly pending: (limit: number) => Promise<PendingPause[]>;
}

export interface PendingPause {
  readonly address: string;
  readonly id: number;
  readonly paused: boolean;
}

/** Deployments that are notified at once. */
const AT_ONCE = 100;
const TIMEOUT_MS = 10_000;

export interface PauseDependencies {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly directory: Pick<DeploymentDirectory, 'byAddress'>;
  readonly route: RouteToOwner;
}

type PauseRequest = RequestOf<OwnedRpcs['service']['accounts.pause']>;

const COLUMNS = { account: 'account_paused', operator: 'operator_paused' } as const;
const RPCS = { account: 'accounts.pause', operator: 'operator.pause' } as const;

/** At the owner. @throws NotOwner */
export async function pauseHere(
  { lanes, directory }: Pick<PauseDependencies, 'lanes' | 'directory'>,
  by: PauseCause['name'],
  { address, paused }: PauseRequest,
  call: CallContext,
): Promise<null> {
  const deployment = await directory.byAddress(address);
  if (deployment === undefined) return null;
  const column = COLUMNS[by];
  const kind = paused ? 'paused' : 'resumed';
  await lanes.submit(
    changeItem(deployment, call, ({ row }) =>
      row[column] === paused ? undefined : { kind, facts: { by }, columns: { [column]: paused } },
    ),
  );
  return null;
}

/** Notifies the owners of all deployments that do not follow the cause yet. @throws the error of an owner */
export async function applyPauses(
  dependencies: PauseDependencies,
  cause: PauseCause,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const pending = await cause.pending(AT_ONCE);
    await Promise.all(pending.map((deployment) => notify(dependencies, cause, deployment, signal)));
    if (pending.length < AT_ONCE || signal.aborted) return;
  }
}

function notify(
  dependencies: PauseDependencies,
  { name, caller }: PauseCause,
  { id, address, paused }: PendingPause,
  signal: AbortSignal,
): Promise<null> {
  const call: CallContext = { ...serviceCall(caller, dependencies.clock, TIMEOUT_MS), signal };
  const request: PauseRequest = { address, paused };
  const here = () => pauseHere(dependencies, name, request, call);
  return dependencies.route({ name: RPCS[name], partition: partitionOf(id), request, here }, call);
}
