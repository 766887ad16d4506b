import { type Bus, type CallOptions, isUnreached } from '@orrery/bus';
import { parseRequest, runtimeContract, ServiceError } from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { CallOperation, GatewayCall, OperationReply, RoutedRpc } from './operation.js';

/** A handler of an operation that the gateway answers itself. */
type LocalHandler = (request: never, call: GatewayCall) => Promise<OperationReply>;

/** Handlers of the gateway's own contracts, by the name of the RPC. */
export type LocalHandlers = Readonly<Record<string, LocalHandler>>;

/** Answers an operation by the gateway's own handler where there is one, else over the bus, whose errors are noted. */
export const createDispatch =
  (
    bus: Pick<Bus, 'call'>,
    local: LocalHandlers,
    onError: (error: unknown) => void = () => undefined,
  ): CallOperation =>
  (rpc, request, call) => {
    const own = local[rpc.name];
    if (own !== undefined) return answerHere(own, rpc, request, call);
    return callOverBus(bus, rpc, request, call).catch((error: unknown) => {
      onError(error);
      throw error;
    });
  };

async function answerHere(
  own: LocalHandler,
  rpc: RoutedRpc,
  request: unknown,
  call: GatewayCall,
): Promise<OperationReply> {
  try {
    return await own(parseRequest(rpc, request) as never, call);
  } catch (error) {
    throw toCallError(error);
  }
}

/** Every operation of the contract has a reply of this shape; the serving side has checked it. */
function callOverBus(
  bus: Pick<Bus, 'call'>,
  rpc: RoutedRpc,
  request: unknown,
  { caller, requestId, deadline, signal }: GatewayCall,
): Promise<OperationReply> {
  const call = { caller, requestId, deadline, signal };
  if (rpc.name !== 'deployments.execute') return bus.call(rpc, request, call) as Promise<OperationReply>;
  const executing = { ...call, callId: crypto.randomUUID() };
  return (bus.call(rpc, request, executing) as Promise<OperationReply>).catch((error: unknown) => {
    if (!isUnknown(error)) throw error;
    return answerOfRun(bus, request as Execution, executing, error);
  });
}

/** The process that took the call is gone. */
const isUnknown = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'unavailable' && error.facts['outcome'] === 'unknown';

type Execution = { readonly params: { worldAddress: string; address: string } };

/** A call that had become a run is answered by the run, which another process continues. @throws `lost` for any other */
async function answerOfRun(
  bus: Pick<Bus, 'call'>,
  { params }: Execution,
  call: CallOptions & { callId: string },
  lost: unknown,
): Promise<OperationReply> {
  const rpc = runtimeContract.rpcs['executions.ofCall'];
  const found = await bus.call(rpc, { params, callId: call.callId }, call).catch((error: unknown) => {
    // It answers what the run failed with.
    throw saysNothing(error) ? lost : error;
  });
  if (found.data === null) throw lost;
  return { data: found.data };
}

const saysNothing = (error: unknown): boolean =>
  isUnknown(error) || isUnreached(error) || (error as { code?: unknown }).code === 'deadline_exceeded';
