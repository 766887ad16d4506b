import { randomUUID } from 'node:crypto';
import { httpOperations, MAX_LIMIT, type RoutedRpc } from '@orrery/contracts';
import type { z } from 'zod';
import { allPages, ask, nextEntries, type ServerAnswer } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf } from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';
import type { CommandContext } from '../terminal/context.js';
import type { OperationRequest } from './fill-request.js';
import { type Showing, showAnswer } from './show-answer.js';

/** An operation of the contract by its name. @throws Error when there is none, which is a defect */
export function operationNamed(name: string): RoutedRpc {
  const found = httpOperations.find((rpc) => rpc.name === name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

/** Sends a request and shows its answer. @throws StartupError for a refusal too */
export async function performOperation(
  rpc: RoutedRpc,
  request: Partial<OperationRequest>,
  options: Showing & CommandContext & { readonly server: Server },
): Promise<void> {
  const { server, all } = options;
  showAnswer(rpc, await (all ? askForAll : askFor)(rpc, request, server), options);
}

/** Performs an operation by its name for a command of ours; `request` may look up what the command names. */
export async function performNamed(
  name: string,
  request: (server: Server) => Partial<OperationRequest> | Promise<Partial<OperationRequest>>,
  { json, all, ...options }: ServerOptions & Pick<Showing, 'json' | 'all'>,
  context: CommandContext,
): Promise<void> {
  const server = await serverOf(options, context);
  await performOperation(operationNamed(name), await request(server), { ...context, json, all, server });
}

/** What may be repeated has a key, so that it is repeated where its answer is lost. */
export function askFor(
  { http, request }: RoutedRpc,
  { params, query, headers = {}, body }: Partial<OperationRequest>,
  server: Server,
): Promise<ServerAnswer> {
  const key = takesKey(request) ? { 'idempotency-key': randomUUID() } : {};
  const path = http.path.replace(/:(\w+)/g, '{$1}');
  return ask(server, { method: http.method, path, params, query, headers: { ...key, ...headers }, body });
}

const takesKey = (request: RoutedRpc['request']): boolean =>
  'idempotency-key' in (request as z.ZodObject<{ headers: z.ZodObject }>).shape.headers.shape;

/** Lists whose pages are told apart by their last entry. */
const HISTORIES = ['history.list', 'public.history'];
/** As many entries as are never too large together (docs/history.md). */
const SAFE_PAGE = '40';

/** Lists of instances, whose query has no page that is too deep. */
const INSTANCES = ['instances.list', 'public.instances'];

/** All pages of a list, those of all instances in the order of their keys: whatever changes meanwhile, each is there once. */
async function askForAll(
  rpc: RoutedRpc,
  request: Partial<OperationRequest>,
  server: Server,
): Promise<ServerAnswer> {
  const isOfInstances = INSTANCES.includes(rpc.name);
  const isNarrowed = Object.keys(request.query ?? {}).some((name) => name !== 'limit');
  try {
    if (isOfInstances && !isNarrowed) return await askPages(rpc, orderedByKey(request), server);
  } catch (error) {
    // An older server takes no such order.
    if (!(error instanceof Refusal) || error.problem.status !== 400) throw error;
  }
  return askPages(rpc, request, server).catch((error: unknown) => {
    const isTooLong = error instanceof Refusal && error.problem.code === 'page_too_deep';
    if (isTooLong) error.message += `\n${isOfInstances ? TOO_MANY_INSTANCES : TOO_MANY}`;
    throw error;
  });
}

const orderedByKey = (request: Partial<OperationRequest>): Partial<OperationRequest> => ({
  ...request,
  query: { ...request.query, orderBy: 'id' },
});

const TOO_MANY =
  'The list is too long for --all, so nothing is shown: narrow it by the options that --help shows.';
const TOO_MANY_INSTANCES =
  'There are too many for --all, so nothing is shown. It shows any number without --entity-schema, --at-seq and --page, and with --entity-schema and --order-by id.';

function askPages(rpc: RoutedRpc, request: Partial<OperationRequest>, server: Server): Promise<ServerAnswer> {
  const { page, ...rest } = request.query ?? {};
  const first = page === undefined ? {} : { page };
  const isHistory = HISTORIES.includes(rpc.name);
  return allPages(
    async (which) => {
      const query = { limit: String(MAX_LIMIT), ...rest, ...('after' in which ? {} : first), ...which };
      const askPage = (limit: string) => askFor(rpc, { ...request, query: { ...query, limit } }, server);
      return askPage(query.limit).catch((error: unknown) => {
        const mayBeSmaller = isHistory && !('page' in query) && Number(query.limit) > Number(SAFE_PAGE);
        if (!mayBeSmaller || !(error instanceof Refusal) || error.problem.code !== 'page_too_deep')
          throw error;
        return askPage(SAFE_PAGE);
      });
    },
    isHistory ? nextEntries : undefined,
  );
}
