import { type Bus, isUnknown } from '@orrery/bus';
import { publicContract, runtimeContract } from '@orrery/contracts';
import { isTraced } from '@orrery/service-kit';
import {
  askOutcome,
  type DispatchOptions,
  goesOn,
  inRequestSpan,
  isStillRunning,
} from '../http/routes/dispatch.js';
import type { ExecuteForWallet } from './signed-route.js';

/**
 * Executes over the bus; errors are noted. A call whose process is lost, or that became a run, is repeated: a message
 * takes effect once, so the repetition gets the outcome of the first call, or takes its place.
 */
export function createExecuteForWallet(bus: Pick<Bus, 'call'>, options: DispatchOptions): ExecuteForWallet {
  const execute = executeOverBus(bus, options);
  if (!isTraced()) return execute;
  const rpc = publicContract.rpcs['public.execute'];
  return (request, call) => inRequestSpan(rpc, call, () => execute(request, call));
}

const executeOverBus =
  (bus: Pick<Bus, 'call'>, { onError, longerMs }: DispatchOptions): ExecuteForWallet =>
  (request, { caller, requestId, deadline, signal, onRun }) => {
    const rpc = runtimeContract.rpcs['executions.public'];
    const call = { caller, requestId, deadline, signal };
    const later = { ...call, deadline: deadline + longerMs };
    const repeat = (otherwise: (error: unknown) => unknown) =>
      askOutcome(() => bus.call(rpc, { ...request, awaitsRun: true }, later), otherwise);
    return bus
      .call(rpc, request, { ...call, leavesRun: true })
      .then(
        (reply) => {
          if (!('executionId' in reply.data) || reply.data.state !== 'running') return reply;
          const { executionId } = reply.data;
          onRun?.();
          return repeat((error) => goesOn(error, executionId));
        },
        (error: unknown) => {
          if (!isUnknown(error) && !isStillRunning(error)) throw error;
          return repeat(() => error);
        },
      )
      .catch((error: unknown) => {
        onError(error);
        throw error;
      });
  };
