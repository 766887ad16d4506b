import {
  type CallContext,
  type ErrorCode,
  type Handlers,
  type NamedRpc,
  type Rpc,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import type { Homes } from './homes.js';

type Rpcs = typeof runtimeContract extends { rpcs: infer All extends Record<string, Rpc> } ? All : never;

/**
 * Where a call is answered. `path` and `named`: where the deployment lives that the path, or the member `deployment`, names.
 * `here`: in this process's database, or it makes no difference. `all`: each database has a part of the answer.
 */
type Route = 'path' | 'named' | 'here' | 'all';

/** Every RPC has its line: which one a new RPC gets is to be thought of. */
const ROUTES: Readonly<Record<keyof Rpcs, Route>> = {
  'deployments.list': 'all',
  'deployments.create': 'all',
  'deployments.published': 'all',
  'journal.heads': 'all',
  'executions.acknowledge': 'all',
  'aiModels.list': 'here',
  'limits.ofDeployments': 'here',
  'owner.forward': 'here',
  'homes.deployments': 'here',
  'homes.find': 'here',
  'executions.forService': 'named',
  'executions.outcomeOf': 'named',
  'executions.public': 'named',
  'journal.range': 'named',
  'journal.headBefore': 'named',
  'lifecycle.read': 'named',
  'references.held': 'named',
  'deployments.get': 'path',
  'deployments.relation': 'path',
  'deployments.update': 'path',
  'deployments.delete': 'path',
  'deployments.revealRandomness': 'path',
  'deployments.lock': 'path',
  'deployments.publish': 'path',
  'deployments.unpublish': 'path',
  'deployments.pause': 'path',
  'deployments.resume': 'path',
  'deployments.execute': 'path',
  'deployments.replay': 'path',
  'deployments.authorize': 'path',
  'deployments.describe': 'path',
  'deployments.overview': 'path',
  'deployments.try': 'path',
  'deployments.usage': 'path',
  'bindings.list': 'path',
  'bindings.add': 'path',
  'bindings.update': 'path',
  'bindings.remove': 'path',
  'instances.list': 'path',
  'instances.create': 'path',
  'instances.get': 'path',
  'instances.update': 'path',
  'instances.delete': 'path',
  'instances.check': 'path',
  'instances.map': 'path',
  'instances.aggregate': 'path',
  'instances.rank': 'path',
  'executions.ofCall': 'path',
  'executions.get': 'path',
  'executions.getPublic': 'path',
  'timers.list': 'path',
  'timers.get': 'path',
  'timers.cancel': 'path',
  'history.list': 'path',
  'history.get': 'path',
  'history.verify': 'path',
  'history.head': 'path',
  'history.proof': 'path',
  'history.consistency': 'path',
  'history.published': 'path',
  'definitions.get': 'path',
  'payments.list': 'path',
  'payments.solana': 'here',
};

type AnyHandler = (request: never, call: CallContext) => Promise<unknown>;
interface Naming {
  readonly params?: { readonly address?: string };
  readonly deployment?: string;
  readonly body?: { readonly sourceDeployment?: string };
}

const namedIn = (route: Route, { params, deployment, body }: Naming): string | undefined =>
  route === 'path' ? params?.address : route === 'named' ? deployment : body?.sourceDeployment;

const RPCS = runtimeContract.rpcs as unknown as Record<string, NamedRpc>;

interface Asked {
  readonly name: string;
  /** The deployment that it is about. */
  readonly reference: string;
  readonly here: AnyHandler;
}

/**
 * Answers here, or, where the deployment has moved, by a process of the database to which it has. It may have been on its way
 * when it was looked for, and be here again, as its move was undone: so it is looked for once more before it counts as absent.
 */
export async function whereItLives(
  homes: Homes,
  { name, reference, here }: Asked,
  request: never,
  call: CallContext,
): Promise<unknown> {
  try {
    return await here(request, call);
  } catch (error) {
    const home = isAbsence(error) ? await homes.homeInTheEnd(reference, call) : undefined;
    if (home === undefined) throw error;
    if (home === homes.id) return here(request, call);
    return homes.call(RPCS[name] as NamedRpc, request, call, home);
  }
}

/**
 * Handlers that pass a call for a deployment of another database on to a process of that; what has a part in each is left to
 * `inAll`. A call that was passed on is answered here, unless the deployment has moved. With one database nothing is looked up.
 */
export function routedToHomes(
  handlers: Handlers<Rpcs>,
  inAll: Partial<Handlers<Rpcs>>,
  homes: Homes,
): Handlers<Rpcs> {
  const everywhere = inAll as Record<string, AnyHandler>;
  const routed = Object.entries(handlers as unknown as Record<string, AnyHandler>).map(([name, here]) => {
    const route = ROUTES[name as keyof Rpcs];
    const answer = async (request: never, call: CallContext) => {
      if (homes.isOnly() || route === 'here') return here(request, call);
      const isPassedOn = call.home !== undefined;
      if (route === 'all' && !isPassedOn) return (everywhere[name] ?? here)(request, call);
      const reference = namedIn(route, request);
      if (reference === undefined) return here(request, call);
      const home = isPassedOn ? homes.id : ((await homes.homeOf(reference)) ?? homes.id);
      if (home !== homes.id) return homes.call(RPCS[name] as NamedRpc, request, call, home);
      return whereItLives(homes, { name, reference, here }, request, call);
    };
    return [name, answer];
  });
  return Object.fromEntries(routed) as Handlers<Rpcs>;
}

/** What is answered for a deployment that is not in the database, and also for one that has left. */
const ABSENT: ReadonlySet<string> = new Set<ErrorCode>(['deployment_not_found', 'unknown_deployment']);

const isAbsence = (error: unknown): boolean => error instanceof ServiceError && ABSENT.has(error.code);
