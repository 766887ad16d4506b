import type { CallContext } from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import { changeItem } from '../deployments/change-item.js';
import { partitionOf } from '../ownership/partition.js';
import { type Unaware, unawareDeployments } from './account-store.js';

/** Deployments told at once. */
const AT_ONCE = 100;
const PATIENCE_MS = 10_000;

/** Where a call for it is passed on among the runtime's processes. */
export const PAUSE_BY_ACCOUNT = 'accounts.pause';

export interface PauseByAccount {
  readonly address: string;
  readonly paused: boolean;
}

/** At the owner: one of the three causes of `isPaused`, lifted only by the account being enabled. @throws NotOwner */
export async function pauseHere(
  { lanes, directory }: Pick<RuntimeContext, 'lanes' | 'directory'>,
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

/** Tells the owners of all deployments whose account was disabled or enabled. @throws what an owner refuses */
export async function tellDeployments(context: RuntimeContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    const unaware = await unawareDeployments(context.db, AT_ONCE);
    await Promise.all(unaware.map((deployment) => tell(context, deployment, signal)));
    if (unaware.length < AT_ONCE || signal.aborted) return;
  }
}

function tell(context: RuntimeContext, { id, address, paused }: Unaware, signal: AbortSignal): Promise<null> {
  const call: CallContext = {
    caller: { kind: 'service', service: 'gateway' },
    requestId: crypto.randomUUID(),
    deadline: context.clock.now() + PATIENCE_MS,
    signal,
  };
  const request: PauseByAccount = { address, paused };
  const here = () => pauseHere(context, request, call);
  return context.route({ name: PAUSE_BY_ACCOUNT, partition: partitionOf(id), request, here }, call);
}
