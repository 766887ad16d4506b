import type { Bus } from '@orrery/bus';
import { publicContract, runtimeContract } from '@orrery/contracts';
import { isTraced } from '@orrery/service-kit';
import {
  type DispatchOptions,
  inRequestSpan,
  isStillRunning,
  isUnknown,
  repeatedWhereLost,
} from '../operations/dispatch.js';
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
    const repeat = () => repeatedWhereLost(() => bus.call(rpc, { ...request, awaitsRun: true }, later));
    return bus
      .call(rpc, request, { ...call, leavesRun: true })
      .then(
        (reply) => {
          if (!('executionId' in reply.data) || reply.data.state !== 'running') return reply;
          onRun?.();
          return repeat();
        },
        (error: unknown) => {
          if (!isUnknown(error) && !isStillRunning(error)) throw error;
          return repeat();
        },
      )
      .catch((error: unknown) => {
        onError(error);
        throw error;
      });
  };
