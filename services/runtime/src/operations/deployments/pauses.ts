import { serviceCall } from '@orrery/bus';
import type { CallContext, OwnedRpcs, RequestOf } from '@orrery/contracts';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { operatorPauses, type PauseCause, type PendingPause } from '../../store/deployments/account-store.js';
import { takeOverPauses } from '../../store/deployments/pauses-elsewhere.js';
import { partitionOf } from '../../store/leases/leases.js';
import type { RuntimeContext } from '../context.js';
import { changeItem } from './handlers.js';

const AT_ONCE = 100;
const TIMEOUT_MS = 10_000;

type PauseRequest = RequestOf<OwnedRpcs['service']['accounts.pause']>;

const COLUMNS = { account: 'account_paused', operator: 'operator_paused' } as const;
const RPCS = { account: 'accounts.pause', operator: 'operator.pause' } as const;

/** At the owner. @throws NotOwner */
export async function pauseHere(
  { lanes, directory }: RuntimeContext,
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
  context: RuntimeContext,
  cause: PauseCause,
  signal: AbortSignal,
): Promise<void> {
  for await (const pending of cause.pending(AT_ONCE)) {
    await Promise.all(pending.map((deployment) => notify(context, cause, deployment, signal)));
    if (signal.aborted) return;
  }
}

function notify(
  context: RuntimeContext,
  { name, caller }: PauseCause,
  { id, address, paused }: PendingPause,
  signal: AbortSignal,
): Promise<null> {
  const call: CallContext = { ...serviceCall(caller, context.clock, TIMEOUT_MS), signal };
  const request: PauseRequest = { address, paused };
  const here = () => pauseHere(context, name, request, call);
  return context.route({ name: RPCS[name], partition: partitionOf(id), request, here }, call);
}

/** How often the operator's pauses are looked up, in milliseconds: nothing tells the processes of a new one. */
const INTERVAL_MS = 1000;

/** Lets deployments follow the operator's pauses, also those that were asked for while no process ran. */
export function startFollowingOperator(context: RuntimeContext): PollLoop {
  const { db, clock, logger, homes } = context;
  const pauses = operatorPauses(db);
  return startPollLoop({
    name: 'operator pauses',
    intervalMs: INTERVAL_MS,
    clock,
    logger,
    runOnce: async (signal) => {
      if (!homes.isOnly()) await takeOverPauses(db, homes.directory, homes.partitionsOf(homes.id));
      await applyPauses(context, pauses, signal);
      return 'idle';
    },
  });
}
