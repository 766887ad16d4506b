import type { Bus } from '@orrery/bus';
import { parseRequest } from '@orrery/contracts';
import { toServiceError } from '@orrery/database';
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
    throw toServiceError(error);
  }
}

/** Every operation of the contract has a reply of this shape; the serving side has checked it. */
const callOverBus = (
  bus: Pick<Bus, 'call'>,
  rpc: RoutedRpc,
  request: unknown,
  { caller, requestId, deadline, signal }: GatewayCall,
): Promise<OperationReply> =>
  bus.call(rpc, request, { caller, requestId, deadline, signal }) as Promise<OperationReply>;
