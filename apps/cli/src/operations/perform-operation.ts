import { httpOperations, MAX_LIMIT, type RoutedRpc, requestPath } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { CommandContext } from '../command-context.js';
import { type ServerAnswer, sendOrFail } from '../server/ask-server.js';
import type { Server } from '../server/find-server.js';
import { Refusal } from '../server/refusal.js';
import type { OperationRequest } from './fill-request.js';
import { type Brief, showAnswer } from './show-answer.js';

/** An operation of the contract by its name. @throws Error when there is none, which is a defect */
export function operationNamed(name: string): RoutedRpc {
  const found = httpOperations.find((rpc) => rpc.name === name);
  if (found === undefined) throw new Error(`there is no operation ${name}`);
  return found;
}

export interface Showing {
  readonly json?: boolean | undefined;
  /** All pages of a list. */
  readonly all?: boolean | undefined;
  readonly brief?: ((data: unknown) => Brief) | undefined;
}

/** Sends a request and shows its answer. @throws StartupError for a refusal too */
export async function performOperation(
  rpc: RoutedRpc,
  request: Partial<OperationRequest>,
  {
    server,
    json = false,
    all = false,
    brief,
    ...outputs
  }: Showing & CommandContext & { readonly server: Server },
): Promise<void> {
  const asked = all ? askForAll(rpc, request, server) : askFor(rpc, request, server);
  const answer = await asked.catch((error: unknown) => {
    // For programs the problem document as it came.
    const isForPrograms = json && error instanceof Refusal;
    throw isForPrograms ? new StartupError(JSON.stringify(error.problem, null, 2), { cause: error }) : error;
  });
  showAnswer(rpc, answer, { ...outputs, json, brief });
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

async function askForAll(rpc: RoutedRpc, request: Partial<OperationRequest>, server: Server) {
  const data: unknown[] = [];
  let answer: ServerAnswer | undefined;
  for (let page = 1; page <= (answer?.pagination?.totalPages ?? 1); page += 1) {
    const query = { limit: String(MAX_LIMIT), ...request.query, page: String(page) };
    answer = await askFor(rpc, { ...request, query }, server);
    data.push(...(answer.data as unknown[]));
  }
  return { ...answer, status: 200, data };
}
