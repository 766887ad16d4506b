import { type Bus, isUnreached } from '@orrery/bus';
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
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import { toCallError } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { z } from 'zod';
import {
  type DeploymentAccess,
  type DeploymentDirectory,
  type DeploymentPath,
  type KnownDeployment,
  notFound,
} from '../../store/deployments/deployment-directory.js';
import { type HeldPartitions, NotOwner, partitionOf, readOwners } from '../../store/leases/leases.js';
import type { Db } from '../../store/tables/schema.js';

interface OwnedCall<Request, Reply> {
  readonly name: OwnedRpcName;
  readonly partition: number;
  readonly request: Request;
  /** Answers here, or throws NotOwner. */
  readonly here: (request: Request, context: CallContext) => Promise<Reply>;
}

interface RouterDependencies {
  readonly db: Db;
  readonly bus: Bus;
  readonly instance: string;
  readonly held: HeldPartitions;
  /** Whether a partition is in this process's database. */
  readonly isHere: (partition: number) => Promise<boolean>;
  readonly clock: Clock;
}

/** While a partition changes hands: the pause before its owner is looked up again, in milliseconds. */
const RETRY_MS = 50;

export type RouteToOwner = <Request, Reply>(
  call: OwnedCall<Request, Reply>,
  context: CallContext,
) => Promise<Reply>;

/**
 * Answers a call here when this process owns the deployment, else forwards it to the process that does. When that
 * process answers that it is not the owner, or is gone before it took the call, the owner is looked up again, until the
 * call's deadline. @throws `deployment_not_found` where the partition has left this database
 */
export function createRouter({ db, bus, held, isHere, clock, instance }: RouterDependencies): RouteToOwner {
  const owners = createOwnerDirectory(db, clock);
  return async (call, context) => {
    for (;;) {
      if (held.epochOf(call.partition) !== undefined) {
        try {
          return await call.here(call.request, context);
        } catch (error) {
          if (!(error instanceof NotOwner)) throw error;
        }
      }
      const owner = await owners.ownerOf(call.partition);
      if (owner !== undefined && owner !== instance) {
        const answer = await forward(bus, owner, call, context);
        if (answer !== undefined) return answer.reply;
      }
      if (!(await isHere(call.partition))) throw notFound();
      owners.invalidate();
      refuseLate(context, clock);
      await clock.sleep(RETRY_MS, context.signal);
    }
  };
}

/** The owner's answer; `undefined` where it is not the owner, or is gone before it took the call. */
async function forward<Request, Reply>(
  bus: Bus,
  owner: string,
  { name, request }: OwnedCall<Request, Reply>,
  context: CallContext,
): Promise<{ readonly reply: Reply } | undefined> {
  const body = { name, request: request as JsonValue };
  try {
    const answer = await bus.call(rpc, body, { ...context, instance: owner });
    // The owner's handler made it for this RPC, and the bus checks it on the way out.
    return answer.kind === 'answered' ? { reply: answer.reply as Reply } : undefined;
  } catch (error) {
    if (isUnreached(error)) return undefined;
    throw error;
  }
}

const rpc = runtimeContract.rpcs['owner.forward'];

function refuseLate({ deadline, signal }: CallContext, clock: Clock): void {
  if (signal.aborted || clock.monotonic() >= deadline) throw new ServiceError('deadline_exceeded');
}

const MAX_AGE_MS = 2000;

/** Lookups at the same time share one read. */
function createOwnerDirectory(db: Db, clock: Clock) {
  let reading: Promise<Map<number, string>> | undefined;
  let owners = new Map<number, string>();
  let readAt = Number.NEGATIVE_INFINITY;

  const read = async () => {
    owners = await readOwners(db);
    readAt = clock.monotonic();
    return owners;
  };
  const fresh = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    /** `undefined`: no process at the moment. */
    ownerOf: async (partition: number): Promise<string | undefined> => {
      const known = clock.monotonic() - readAt < MAX_AGE_MS ? owners.get(partition) : undefined;
      return known ?? (await fresh()).get(partition);
    },
    /** The last read has proved wrong: the next lookup reads again. */
    invalidate: () => {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

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

interface OwnedDependencies {
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
 * Handlers for any process of what services call: the owner of the deployment that the request names answers; for one that
 * there is not, any process.
 */
export function routedForServices<Served extends Partial<Handlers<OwnedRpcs['service']>>>(
  {
    directory,
    route,
  }: { readonly directory: Pick<DeploymentDirectory, 'byAddress'>; readonly route: RouteToOwner },
  served: Served,
): Served {
  const routed = Object.entries<AnyHandler>(served as Record<string, AnyHandler>).map(([name, here]) => [
    name,
    async (request: never, call: CallContext) => {
      const { deployment: address } = request as { readonly deployment: string };
      const deployment = await directory.byAddress(address);
      if (deployment === undefined) return here(request, call);
      const partition = partitionOf(deployment.id);
      return route({ name: name as OwnedRpcName, partition, request, here }, call);
    },
  ]);
  return Object.fromEntries(routed) as Served;
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
