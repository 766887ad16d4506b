import type { Bus } from '@orrery/bus';
import { publicContract, runtimeContract } from '@orrery/contracts';
import { isTraced } from '@orrery/service-kit';
import { type DispatchOptions, inRequestSpan, outcomeOf } from '../http/routes/dispatch.js';
import type { ExecuteForWallet } from './signed-route.js';

/**
 * Executes over the bus; errors are noted. A call whose process is lost, or that became a run, is repeated: a message
 * takes effect once, so the repetition gets the outcome of the first call, or takes its place.
 */
export function createExecuteForWallet(
  bus: Pick<Bus, 'call'>,
  { onError, longerMs }: DispatchOptions,
): ExecuteForWallet {
  const rpc = runtimeContract.rpcs['executions.public'];
  const execute: ExecuteForWallet = (request, { caller, requestId, deadline, signal, onRun }) => {
    const call = { caller, requestId, deadline, signal };
    const later = { ...call, deadline: deadline + longerMs };
    return outcomeOf(bus.call(rpc, request, { ...call, leavesRun: true }), {
      onRun,
      runIn: ({ data }) => ('executionId' in data && data.state === 'running' ? data.executionId : undefined),
      ask: () => bus.call(rpc, { ...request, awaitsRun: true }, later),
    }).catch((error: unknown) => {
      onError(error);
      throw error;
    });
  };
  if (!isTraced()) return execute;
  const spanned = publicContract.rpcs['public.execute'];
  return (request, call) => inRequestSpan(spanned, call, () => execute(request, call));
}
