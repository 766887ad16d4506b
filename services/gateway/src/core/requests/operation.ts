import type {
  CallContext,
  Caller,
  identityContract,
  RequestOf,
  RoutedRpc,
  Scope,
  SuggestedProblem,
} from '@orrery/contracts';
import type { z } from 'zod';

export type { RoutedRpc };

/** Who a verified key is. */
export interface Principal {
  readonly accountId: number;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** As calls name it; one object for all calls of the key, so that its text is made once. */
  readonly caller: Caller;
}

/** What the gateway knows of a call beyond what travels over the bus. */
export interface GatewayCall extends CallContext {
  /** The key that was presented; undefined on public routes. */
  principal: Principal | undefined;
  /** The call has become a run: from now on it only waits, for a model or a payment. */
  onRun?: () => void;
  /** Whoever calls only passes the reply on: it may be its text alone. */
  passesOn?: boolean;
  /** Whether the request comes from this machine, and through no proxy. */
  isFromHere?: () => boolean;
}

/** The members of the success envelope that a handler returns. */
export interface OperationReply {
  data: unknown;
  message?: string | undefined;
  warnings?: readonly SuggestedProblem[] | undefined;
  pagination?: unknown;
  /** Sums over a whole list. */
  totals?: unknown;
  /** The `ETag`, quoted or bare. */
  etag?: string | undefined;
  /** In place of all others: the JSON object of them, of which nothing was read. */
  text?: string;
}

/** Answers an RPC, over the bus or by the gateway's own handlers. */
export type CallOperation = (rpc: RoutedRpc, request: unknown, call: GatewayCall) => Promise<OperationReply>;

type IdentityRpcs = typeof identityContract.rpcs;

/** Handlers of the gateway's own operations. They see the presented key, which never travels over the bus. */
export type IdentityHandlers = {
  [Name in keyof IdentityRpcs]: (
    request: RequestOf<IdentityRpcs[Name]>,
    call: GatewayCall,
  ) => Promise<z.input<IdentityRpcs[Name]['reply']>>;
};
