import createClient from 'openapi-fetch';
import type { paths } from '../generated/api.js';
import { KEYED_OPERATIONS } from '../generated/operations.js';
import { parseJson } from '../json/parse-json.js';
import type {
  AnswerOf,
  InitArgument,
  Method,
  OperationOf,
  PathOf,
  RequestOptions,
} from './operation-types.js';
import { sendWithRetries } from './send-with-retries.js';

export interface ClientOptions {
  /** The server, such as `http://127.0.0.1:3000`; in a page that the server serves, `''`. */
  readonly url: string;
  /** An API key, or what gives the current one. It is sent to `/api` alone. Public execution needs none. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** `globalThis.fetch` by default. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds in which a request may be tried again; 30,000 by default, 0 for never. */
  readonly retryForMs?: number | undefined;
}

/** An answer with its envelope and headers. */
export interface Answer<Body> {
  readonly body: Body;
  readonly headers: Headers;
}

/** Requests by the paths of openapi.json. */
export interface Requests {
  answer<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...init: InitArgument<OperationOf<M, P>>
  ): Promise<Answer<AnswerOf<OperationOf<M, P>>>>;
  /** Sends a GET whose answer is read while it arrives. No retries: the reader knows where to go on. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
}

interface UntypedInit extends RequestOptions {
  readonly path?: Record<string, unknown>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}
type UntypedRequest = (
  method: string,
  path: string,
  init: object,
) => Promise<{ data?: string; response: Response }>;

export function createRequests({ url, token, fetch: given, retryForMs = 30_000 }: ClientOptions): Requests {
  // A bare `fetch` of a browser refuses to be called as a member of another object.
  const send: typeof fetch = given ?? ((...args) => globalThis.fetch(...args));
  const untyped = createClient<paths>({ baseUrl: url }).request as unknown as UntypedRequest;
  const authorization = async (path: string): Promise<Record<string, string>> => {
    if (token === undefined || !path.startsWith('/api/')) return {};
    return { authorization: `Bearer ${typeof token === 'function' ? await token() : token}` };
  };
  const answer = async (method: string, path: string, init: UntypedInit = {}) => {
    const { path: inPath, query, body, signal, headers } = init;
    checkSegments(inPath);
    const key = keyOf(`${method.toUpperCase()} ${path}`, init);
    const repeatable = method === 'get' || key !== undefined || path.startsWith('/app/');
    const { data, response } = await untyped(method, path, {
      params: { path: inPath, query },
      body,
      signal,
      parseAs: 'text',
      headers: {
        ...(await authorization(path)),
        ...headers,
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      fetch: (request: Request) => sendWithRetries(request, { fetch: send, retryForMs, repeatable }),
    });
    return { body: data ? parseJson(data) : undefined, headers: response.headers };
  };
  return {
    answer: answer as Requests['answer'],
    open: async (path, headers, signal) =>
      send(`${url.replace(/\/$/, '')}${path}`, {
        headers: { ...(await authorization(path)), ...headers },
        signal,
        cache: 'no-store',
      }),
  };
}

/** A key for all tries of one call; undefined where the operation takes none. */
const keyOf = (operation: string, { idempotencyKey }: RequestOptions): string | undefined =>
  KEYED_OPERATIONS.has(operation) ? (idempotencyKey ?? newKey()) : undefined;

/** 128 random bits. `crypto.randomUUID` is missing in pages that came over plain HTTP. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** A URL's parser takes `.` and `..` for folders, encoded too: the request would reach another resource. */
function checkSegments(path: Record<string, unknown> = {}): void {
  for (const [name, value] of Object.entries(path))
    if (value === undefined || value === '' || value === '.' || value === '..')
      throw new RangeError(`The path's ${name} cannot be '${value}': no URL can hold it.`);
}
