import {
  asServiceError,
  type CallContext,
  type Handlers,
  type JsonValue,
  type ownershipRpcs,
  type ReplyOf,
  type RequestOf,
  type Rpc,
  ServiceError,
} from '@orrery/contracts';
import type { z } from 'zod';
import { PAUSE_BY_ACCOUNT, pauseHere } from '../accounts/pause-by-account.js';
import { heldHere, type ReferenceDependencies } from '../claims/held-references.js';
import type {
  DeploymentAccess,
  DeploymentPath,
  KnownDeployment,
} from '../deployments/deployment-directory.js';
import { NotOwner } from './not-owner.js';
import { partitionOf } from './partition.js';
import type { RouteToOwner } from './route-to-owner.js';

/** Answers at the owner of the deployment, or throws NotOwner; the caller owns the deployment. */
export type OwnedHandler<R extends Rpc> = (
  deployment: KnownDeployment,
  request: RequestOf<R>,
  call: CallContext,
) => Promise<z.input<R['reply']>>;

export type OwnedHandlers<Rpcs extends Record<string, Rpc>> = {
  [Name in keyof Rpcs]: OwnedHandler<Rpcs[Name]>;
};

interface OwnedRequest {
  readonly params: DeploymentPath;
}
type AnyHandler = (deployment: KnownDeployment, request: never, call: CallContext) => Promise<unknown>;

export interface OwnedDependencies {
  readonly access: DeploymentAccess;
  readonly route: RouteToOwner;
}

/** Handlers for any process: who owns the deployment's row may call, and the process that owns its lane answers. */
export function routedHandlers<Rpcs extends Record<string, Rpc>>(
  { access, route }: OwnedDependencies,
  owned: OwnedHandlers<Rpcs>,
): Handlers<Rpcs> {
  const routed = Object.entries<AnyHandler>(owned as Record<string, AnyHandler>).map(([name, handler]) => [
    name,
    async (request: OwnedRequest, call: CallContext) => {
      const deployment = await access.owned(request.params, call.caller);
      const here = () => handler(deployment, request as never, call);
      return route({ name, partition: partitionOf(deployment.id), request, here }, call);
    },
  ]);
  // Each entry answers the RPC whose name it has.
  return Object.fromEntries(routed) as Handlers<Rpcs>;
}

type Forward = (typeof ownershipRpcs)['owner.forward'];
type ForwardDependencies = Pick<OwnedDependencies, 'access'> & ReferenceDependencies;

/** Answers for another process that was asked; never passes the call on. */
export function forwardHandlers<Rpcs extends Record<string, Rpc>>(
  dependencies: ForwardDependencies,
  owned: OwnedHandlers<Rpcs>,
): Handlers<typeof ownershipRpcs> {
  return {
    'owner.forward': async (forwarded, call): Promise<ReplyOf<Forward>> => {
      try {
        const reply = await answerHere(dependencies, owned as Record<string, AnyHandler>, forwarded, call);
        return { kind: 'answered', reply: reply as JsonValue };
      } catch (error) {
        if (error instanceof NotOwner) return { kind: 'not_owner' };
        throw asServiceError(error);
      }
    },
  };
}

/** The process that passes a call on has checked the request; who may call is checked where it is answered. */
async function answerHere(
  dependencies: ForwardDependencies,
  owned: Record<string, AnyHandler>,
  { name, request }: RequestOf<Forward>,
  call: CallContext,
): Promise<unknown> {
  if (name === 'references.held') return heldHere(dependencies, request as never, call);
  if (name === PAUSE_BY_ACCOUNT) return pauseHere(dependencies, request as never, call);
  const handler = Object.hasOwn(owned, name) ? owned[name] : undefined;
  if (handler === undefined) throw new ServiceError('internal', `nothing named ${name} is owned`);
  const { params } = request as unknown as OwnedRequest;
  return handler(await dependencies.access.owned(params, call.caller), request as never, call);
}
