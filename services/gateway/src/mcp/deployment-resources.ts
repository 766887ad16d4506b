import {
  type PublicDeployment,
  parseRequest,
  readingContract,
  requestPath,
  ServiceError,
} from '@orrery/contracts';
import type { GatewayCall, RoutedRpc } from '../core/requests/operation.js';
import type { RouteContext } from '../http/routes/operation-route.js';
import type { Published } from '../public/published.js';
import { createReading } from '../public/reading-route.js';
import { refuseLarge } from './tool-results.js';

const { rpcs } = readingContract;
const READ = [
  rpcs['public.get'],
  rpcs['public.instances'],
  rpcs['public.instance'],
  rpcs['public.history'],
  rpcs['public.entry'],
  rpcs['public.head'],
  rpcs['public.proof'],
  rpcs['public.consistency'],
];
const routed = READ as unknown as readonly RoutedRpc[];

/** Resources have the addresses under which HTTP serves them, too. */
const baseOf = (publicUrl: string, address: string): string =>
  new URL(requestPath(routed[0]?.http ?? { path: '' }, { address }), publicUrl).href;

const JSON_TYPE = 'application/json';

export function listResources(
  publicUrl: string,
  { address, name }: Pick<PublicDeployment, 'address' | 'name'>,
) {
  const base = baseOf(publicUrl, address);
  const about = (path: string, title: string) => ({
    uri: `${base}${path}`,
    name: title,
    mimeType: JSON_TYPE,
  });
  return [
    {
      ...about('', 'deployment'),
      title: name,
      description: 'The deployment, its public events and their prices.',
    },
    { ...about('/entity-instances', 'entity-instances'), description: 'The entities and their state.' },
    { ...about('/history', 'history'), description: 'The executions, newest first.' },
    { ...about('/head', 'head'), description: 'A signed checkpoint of the journal.' },
  ];
}

export function listTemplates(publicUrl: string, { address }: Pick<PublicDeployment, 'address'>) {
  const base = baseOf(publicUrl, address);
  const template = (path: string, name: string, description: string) => ({
    uriTemplate: `${base}${path}`,
    name,
    description,
    mimeType: JSON_TYPE,
  });
  return [
    template(
      '/entity-instances{?entitySchema,atSeq,page,limit}',
      'entity-instances',
      'Entities by their schema, or as they were after an entry of the history.',
    ),
    template('/entity-instances/{instanceId}{?entitySchema,atSeq}', 'entity-instance', 'One entity.'),
    template(
      '/history{?event,status,trigger,instance,include,after,page,limit}',
      'history',
      'Executions, by filters; instance is schema:instanceId.',
    ),
    template(
      '/history/{historyId}{?hashed}',
      'history-entry',
      'One execution with its changes and its place in the hash chain.',
    ),
    template('/proof{?seq,size}', 'proof', 'That a checkpoint covers an entry.'),
    template('/consistency{?from,to}', 'consistency', 'That a checkpoint extends an earlier one.'),
  ];
}

const readings = new WeakMap<RouteContext['call'], readonly Route[]>();
interface Route {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly rpc: RoutedRpc;
  readonly read: ReturnType<typeof createReading>;
}

function routesOf({ call }: Pick<RouteContext, 'call'>): readonly Route[] {
  const known = readings.get(call);
  if (known !== undefined) return known;
  const made = routed.map((rpc) => ({
    rpc,
    pattern: new RegExp(`^${rpc.http.path.replaceAll(/:\w+/g, '([^/]+)')}$`),
    names: [...rpc.http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
    read: createReading(rpc, { call }),
  }));
  readings.set(call, made);
  return made;
}

/** Reads a resource of the deployment as JSON. @throws `route_not_found` for what is none of its resources */
export async function readResource(
  uri: string,
  published: Published,
  { publicUrl, ...context }: Pick<RouteContext, 'call'> & { publicUrl: string },
  call: GatewayCall,
): Promise<string> {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  const found = routesOf(context).flatMap((route) => {
    const values = route.pattern.exec(url?.pathname ?? '')?.slice(1);
    return values === undefined ? [] : [{ ...route, values }];
  });
  const [route] = found;
  const isHere =
    url?.origin === new URL(publicUrl).origin && uri.startsWith(baseOf(publicUrl, published.address));
  if (route === undefined || !isHere)
    throw new ServiceError(
      'route_not_found',
      'The server has no such resource: resources/list and resources/templates/list name all.',
    );
  const params = Object.fromEntries(route.names.map((name, at) => [name, decoded(route.values[at])]));
  const request = { params, query: Object.fromEntries(url?.searchParams ?? []), headers: {}, body: {} };
  parseRequest(route.rpc, request);
  const { text } = await route.read(request, published, call);
  refuseLarge(text);
  return text;
}

function decoded(part = ''): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ServiceError(
      'validation_failed',
      'The address of the resource is not valid percent-encoded UTF-8.',
    );
  }
}
