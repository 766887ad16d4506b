import type { FieldProblem, HttpBinding, Pagination } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import type { Server } from './find-server.js';
import { Refusal } from './refusal.js';

/** An answer in the envelope; a refusal has a code and a sentence (RFC 9457). */
export interface ServerAnswer {
  readonly status: number;
  readonly data?: unknown;
  readonly message?: string;
  readonly pagination?: Pagination;
  readonly code?: string;
  readonly error?: string;
  readonly errors?: readonly FieldProblem[];
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface ServerRequest {
  readonly method: HttpBinding['method'];
  /** With its query, from `/api` on. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** @throws StartupError when no server answers there */
export async function send(
  { url, key }: Server,
  { method, path, headers, body }: ServerRequest,
): Promise<ServerAnswer> {
  const authorization = key === '' ? {} : { authorization: `Bearer ${key}` };
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const init = { method, headers: { ...authorization, ...json, ...headers } };
  try {
    const answer = await fetch(
      `${url}${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    return { ...((await answer.json()) as Omit<ServerAnswer, 'status'>), status: answer.status };
  } catch (error) {
    throw new StartupError(
      `No Orrery answers at ${url}: run \`npm start\` in another terminal first, pass --url or set ORRERY_URL.`,
      { cause: error },
    );
  }
}

/** As `send`. @throws Refusal also for an answer that is none of success */
export async function sendOrFail(server: Server, request: ServerRequest): Promise<ServerAnswer> {
  const answer = await send(server, request);
  if (answer.status < 300) return answer;
  throw new Refusal(server, request, answer);
}

/** Sends a request below `/api`. @throws StartupError when no server answers there */
export const askServer = (
  server: Server,
  method: HttpBinding['method'],
  path: string,
  body?: unknown,
): Promise<ServerAnswer> => send(server, { method, path: `/api${path}`, body });

/** As `askServer`. @throws Refusal also for a refusal */
export const askOrFail = (
  server: Server,
  method: HttpBinding['method'],
  path: string,
  body?: unknown,
): Promise<ServerAnswer> => sendOrFail(server, { method, path: `/api${path}`, body });
