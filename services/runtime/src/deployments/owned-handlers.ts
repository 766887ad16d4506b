import {
  type CallContext,
  type Handlers,
  type JsonValue,
  type OwnedRpcName,
  type OwnedRpcs,
  type ownershipRpcs,
  type ReplyOf,
  type RequestOf,
  type Rpc,
  ServiceError,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { z } from 'zod';
import { NotOwner, partitionOf } from '../ownership/partitions.js';
import type { RouteToOwner } from '../ownership/route-to-owner.js';
import type { DeploymentAccess, DeploymentPath, KnownDeployment } from './deployment-directory.js';

/** Answers at the owner of the deployment, or throws NotOwner; the caller's account owns the deployment. */
export type OwnedHandler<R extends Rpc> = (
  deployment: KnownDeployment,
  request: RequestOf<R>,
  call: CallContext,
) => Promise<z.input<R['reply']>>;

export type OwnedHandlers<Rpcs extends Record<string, Rpc>> = {
  [Name in keyof Rpcs]: OwnedHandler<Rpcs[Name]>;
};

type AccountRpcs = OwnedRpcs['account'];

interface OwnedRequest {
  readonly params: DeploymentPath;
}
type AnyOwnedHandler = (
  deployment: KnownDeployment,
  request: OwnedRequest,
  call: CallContext,
) => Promise<unknown>;
type AnyHandler = (request: never, call: CallContext) => Promise<unknown>;

export interface OwnedDependencies {
  readonly access: Pick<DeploymentAccess, 'owned'>;
  readonly route: RouteToOwner;
}

// Each handler takes the request of the RPC whose name it has.
const entriesOf = (owned: OwnedHandlers<AccountRpcs>): [OwnedRpcName, AnyOwnedHandler][] =>
  Object.entries(owned) as unknown as [OwnedRpcName, AnyOwnedHandler][];

/** Handlers for any process: the account that owns the deployment may call, and the process that owns it answers. */
export function routedHandlers(
  { access, route }: OwnedDependencies,
  owned: OwnedHandlers<AccountRpcs>,
): Handlers<AccountRpcs> {
  const routed = entriesOf(owned).map(([name, handler]) => [
    name,
    async (request: OwnedRequest, call: CallContext) => {
      const deployment = await access.owned(request.params, call.caller);
      const here = () => handler(deployment, request, call);
      return route({ name, partition: partitionOf(deployment.id), request, here }, call);
    },
  ]);
  return Object.fromEntries(routed) as Handlers<AccountRpcs>;
}

/**
 * Answers calls that other processes forward; never forwards them again. The process that forwards a call has checked its
 * request; whether the caller may make it is checked here.
 */
export function forwardHandlers(
  { access }: Pick<OwnedDependencies, 'access'>,
  owned: OwnedHandlers<AccountRpcs>,
  forServices: Handlers<OwnedRpcs['service']>,
): Handlers<typeof ownershipRpcs> {
  const answers = new Map<string, AnyHandler>(Object.entries<AnyHandler>(forServices));
  for (const [name, handler] of entriesOf(owned)) {
    answers.set(name, async (request: OwnedRequest, call) =>
      handler(await access.owned(request.params, call.caller), request, call),
    );
  }
  return {
    'owner.forward': async ({ name, request }, call): Promise<ReplyOf<Forward>> => {
      try {
        const answer = answers.get(name);
        if (answer === undefined) throw new ServiceError('internal', `no owner answers ${name}`);
        return { kind: 'answered', reply: (await answer(request as never, call)) as JsonValue };
      } catch (error) {
        if (error instanceof NotOwner) return { kind: 'not_owner' };
        throw toCallError(error);
      }
    },
  };
}

type Forward = (typeof ownershipRpcs)['owner.forward'];
