import type { Bus } from '@orrery/bus';
import {
  type AcceptedExecution,
  type JsonObject,
  type OfferedPayment,
  parseRequest,
  publicContract,
  type publicExecutionRpcs,
  type ReplyOf,
  type RequestOf,
  replayNameOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { isTraced } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientSubject } from '../core/clients/clients.js';
import type { GatewayCall, RoutedRpc } from '../core/requests/operation.js';
import { paymentHeaders, readPayment } from '../core/requests/payment-headers.js';
import { requestSchema } from '../core/requests/request-schema.js';
import { applyDecision, type RateContext } from '../http/rates/limiter.js';
import { type DispatchOptions, inRequestSpan, outcomeOf } from '../http/routes/dispatch.js';
import { callOf, type RouteContext, readRequest, routeOf } from '../http/routes/operation-route.js';
import type { SignedMessage, WalletVerifier } from '../wallets/verify-wallet.js';
import { linksFor } from './published.js';

type PublicRpc = (typeof publicExecutionRpcs)['executions.public'];
/** The request of either operation: the event stands in the body, or in the path, or in both. */
export interface PublicRequest {
  readonly params: { readonly address: string; readonly event?: string };
  readonly body: Partial<SignedMessage> & {
    readonly event?: string | undefined;
    readonly input: JsonObject;
  };
}

/** Executes for the wallet that is the caller of the call, or for who pays. */
export type ExecuteForWallet = (
  request: RequestOf<PublicRpc>,
  call: GatewayCall,
) => Promise<ReplyOf<PublicRpc>>;

export interface SignedRouteContext extends RouteContext, RateContext {
  executeForWallet: ExecuteForWallet;
  wallets: WalletVerifier;
  /** The address under which clients reach the service. */
  publicUrl: string;
}

/**
 * Makes the route of an operation that a wallet signs, or that a payment alone may call. What the gateway checks comes in this
 * order: the address's rate, the shape of body and payment header, the signature (before the node of a chain is asked, the
 * address's rate of that), the wallet's rate. The runtime checks the rest.
 */
export function addSignedRoute(app: FastifyInstance, rpc: RoutedRpc, context: SignedRouteContext): void {
  const schema = requestSchema(rpc);
  app.route({
    ...routeOf(app, rpc, schema, context),
    handler: async (http, reply) => {
      const request = parseRequest(rpc, readRequest(http, schema)) as PublicRequest;
      const asked = callRequest(request, readPayment(http.raw), context);
      reply.header('link', linksFor(asked.deployment));
      const { data, payment } = await executePublic(request, asked, { http, reply }, context);
      if (payment !== null) reply.headers(paymentHeaders(payment));
      if ('executionId' in data) acceptForLater(rpc, request, data, reply);
      return { success: true, data };
    },
  });
}

/** Executes what a wallet has signed or a payment alone may call. */
export async function executePublic(
  request: PublicRequest,
  asked: RequestOf<PublicRpc>,
  { http, reply }: { http: FastifyRequest; reply: FastifyReply },
  context: SignedRouteContext,
): Promise<ReplyOf<PublicRpc>> {
  const call = callOf(http, reply, context);
  const asking = () => limit('node', clientSubject(http.ip), context, reply);
  const wallet = await signerOf(request, context, call.signal, asking);
  if (wallet !== undefined) {
    await limit('wallet', `${replayNameOf(wallet)}:${deploymentIn(request)}`, context, reply);
    call.caller = { kind: 'wallet', wallet };
  }
  return context.executeForWallet(asked, call);
}

/** Undefined where nobody has signed: then the payment says who calls, if the event allows that. */
async function signerOf(
  { body: { wallet, message, signature } }: PublicRequest,
  { wallets }: SignedRouteContext,
  signal: AbortSignal,
  asking: () => Promise<void>,
): Promise<string | undefined> {
  // The contract takes all three or none.
  if (wallet === undefined || message === undefined || signature === undefined) return undefined;
  return wallets.verify({ wallet, message, signature }, signal, asking);
}

/** It is not known yet whether the payment was charged: `Location` tells the outcome later. */
function acceptForLater(
  { http }: RoutedRpc,
  { params: { address } }: PublicRequest,
  data: AcceptedExecution,
  reply: FastifyReply,
): void {
  const location = http.location?.({ params: { address } }, { ...data });
  if (location !== undefined) reply.header('location', location);
  reply.code(202);
}

/** @throws `conflicting_fields` for a body that names another event than the path */
function callRequest(
  { params, body: { event = '', input, message } }: PublicRequest,
  payment: OfferedPayment | null,
  { publicUrl }: Pick<SignedRouteContext, 'publicUrl'>,
): RequestOf<PublicRpc> {
  const { address: deployment, event: ofPath = event } = params;
  if (event !== '' && event !== ofPath)
    throw new ServiceError(
      'conflicting_fields',
      `The path names the event "${ofPath}" and the body "${event}": leave it out of the body.`,
    );
  const resource = new URL(`/app/deployments/${encodeURIComponent(deployment)}/execute`, publicUrl).href;
  const atEvent = params.event !== undefined;
  const asked = { deployment, event: ofPath, input, message: message ?? null, payment };
  return { ...asked, resource, atEvent, awaitsRun: false };
}

/** The deployment that the message names, in whichever form the path has it. */
function deploymentIn({ params, body: { message = '' } }: PublicRequest): string {
  const [, named = params.address] = /^orrery:(0x[0-9a-f]{40}):/i.exec(message) ?? [];
  return named.toLowerCase();
}

/** Counts a call against one of the limits. @throws `rate_limited` */
export async function limit(
  policy: 'address' | 'wallet' | 'node',
  subject: string,
  { limiter, rates }: RateContext,
  reply: FastifyReply,
): Promise<void> {
  if (rates === undefined) return;
  const refusal = applyDecision(rates[policy], await limiter.take(rates[policy], subject), reply);
  if (refusal !== undefined) throw refusal;
}

/**
 * Executes over the bus; errors are noted. A call whose process is lost, or that became a run, is repeated: a message
 * or a payment takes effect once, so the repetition gets the outcome of the first call, or takes its place.
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
