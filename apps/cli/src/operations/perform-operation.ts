import { httpOperations, MAX_LIMIT, type RoutedRpc, requestPath } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { allPages, nextEntries, Refusal, type ServerAnswer, sendOrFail } from '../server/ask-server.js';
import { type Server, type ServerOptions, serverOf } from '../server/find-server.js';
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
  const { server, json, all } = options;
  const asked = all ? askForAll(rpc, request, server) : askFor(rpc, request, server);
  const answer = await asked.catch((error: unknown) => {
    // For programs the problem document as it came.
    const isForPrograms = json && error instanceof Refusal;
    throw isForPrograms ? new StartupError(JSON.stringify(error.problem, null, 2), { cause: error }) : error;
  });
  showAnswer(rpc, answer, options);
}

/** Performs an operation by its name for a command of ours; `request` may look up what the command names. */
export async function performNamed(
  name: string,
  request: (server: Server) => Partial<OperationRequest> | Promise<Partial<OperationRequest>>,
  { json, ...options }: ServerOptions & Pick<Showing, 'json'>,
  context: CommandContext,
): Promise<void> {
  const server = await serverOf(options, context);
  await performOperation(operationNamed(name), await request(server), { ...context, json, server });
}

export function askFor(
  { http }: RoutedRpc,
  { params = {}, query = {}, headers = {}, body }: Partial<OperationRequest>,
  server: Server,
): Promise<ServerAnswer> {
  const search = new URLSearchParams(query).toString();
  const path = `${requestPath(http, params)}${search === '' ? '' : `?${search}`}`;
  return sendOrFail(server, { method: http.method, path, headers, body });
}

function askForAll(
  rpc: RoutedRpc,
  request: Partial<OperationRequest>,
  server: Server,
): Promise<ServerAnswer> {
  const { page, ...rest } = request.query ?? {};
  const first = page === undefined ? {} : { page };
  return allPages(
    (which) => {
      const query = { limit: String(MAX_LIMIT), ...rest, ...('after' in which ? {} : first), ...which };
      return askFor(rpc, { ...request, query }, server);
    },
    rpc.name === 'history.list' ? nextEntries : undefined,
  );
}
