import type { CallContext, HttpBinding, NamedRpc } from '@orrery/contracts';
import type { Principal } from '../accounts/principal.js';

/** An RPC that is offered over HTTP. */
export type RoutedRpc = NamedRpc & { http: HttpBinding };

/** The members of the success envelope that a handler gives (decisions §1). */
export interface OperationReply {
  data: unknown;
  message?: string | undefined;
  pagination?: unknown;
  /** Revision for the `ETag`, quoted or bare. */
  etag?: string | undefined;
}

/** What the gateway knows of a call beyond what travels over the bus. */
export interface GatewayCall extends CallContext {
  /** The key that was presented; undefined on public routes. */
  principal: Principal | undefined;
}

/** Answers an RPC, over the bus or by the gateway's own handlers. */
export type CallOperation = (rpc: RoutedRpc, request: unknown, call: GatewayCall) => Promise<OperationReply>;
