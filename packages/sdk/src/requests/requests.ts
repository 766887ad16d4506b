import createClient from 'openapi-fetch';
import { errorOfAnswer, OrreryError } from '../errors/orrery-error.js';
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
  /** Of a reader without a key, who is not told the inputs of entries about settings. */
  readonly isWithoutKey?: true;
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
    const etag = response.headers.get('etag')?.replace(/^(?:W\/)?"(.*)"$/, '$1');
    const envelope = data ? parseJson(data) : undefined;
    const tagged = etag === undefined ? envelope : { ...(envelope as object), etag };
    return { body: tagged, headers: response.headers };
  };
  return {
    answer: answer as Requests['answer'],
    open: async (path, headers, signal) => {
      const address = `${url.replace(/\/$/, '')}${path}`;
      const init = {
        headers: { ...(await authorization(path)), ...headers },
        signal,
        cache: 'no-store',
      } as const;
      // What no request can be made of is no failure of the network: it would be tried for ever.
      new Request(address, init);
      return send(address, init).catch((cause: unknown) => {
        throw networkError(address, cause);
      });
    },
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

export interface SendOptions {
  readonly fetch: typeof fetch;
  /** Milliseconds from the first try in which others may begin; 0 makes one try. */
  readonly retryForMs: number;
  /** Sending the request twice has the effect of sending it once. */
  readonly repeatable: boolean;
}

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;
/** Each is answered before anything was done. */
const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'too_many_waiting', 'request_timeout']);

/**
 * Sends a request, and again while its error says that it may succeed later. The answer's body has arrived whole when it
 * resolves, so that a connection that breaks in the middle is a try that failed.
 * @throws OrreryError for an answer that is no success, and as `network_error` where none came
 */
export async function sendWithRetries(request: Request, options: SendOptions): Promise<Response> {
  const until = performance.now() + options.retryForMs;
  for (let tries = 0; ; tries += 1) {
    const outcome = await sendOnce(request.clone(), options.fetch);
    if (outcome instanceof Response) return outcome;
    const delay = mayRepeat(outcome, options.repeatable) ? delayAfter(tries, outcome) : Infinity;
    if (performance.now() + delay >= until) throw outcome;
    await pause(delay, request.signal);
  }
}

async function sendOnce(request: Request, send: typeof fetch): Promise<Response | OrreryError> {
  try {
    const answer = await send(request);
    if (!answer.ok) return errorOfAnswer(answer, await answer.text());
    const { status, headers } = answer;
    return new Response(await answer.arrayBuffer(), { status, headers });
  } catch (cause) {
    if (request.signal.aborted) throw request.signal.reason;
    return networkError(request.url, cause);
  }
}

export const networkError = (url: string, cause: unknown): OrreryError =>
  new OrreryError({ code: 'network_error', detail: `No answer came from ${new URL(url).origin}.`, cause });

/**
 * An AI model that gave no valid proposal was asked several times already; its failure is the stored answer of the
 * Idempotency-Key. Any execution that failed has its entry in the journal, and a repetition would leave another.
 */
function mayRepeat(error: OrreryError, repeatable: boolean): boolean {
  const hasFailed = error.code === 'ai_output_invalid' || error.facts['historyId'] !== undefined;
  return error.retryable && !hasFailed && (repeatable || surelyNothingDone(error));
}

/** `reached: false`: no process took the request. Any other failure may have come after a change. */
const surelyNothingDone = ({ code, facts }: OrreryError): boolean =>
  NOTHING_DONE.has(code) || facts['reached'] === false;

/** Milliseconds; half of what is not the service's own word is random, so that clients do not return together. */
function delayAfter(tries: number, { retryAfter }: OrreryError): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  const delay = Math.min(FIRST_DELAY_MS * 2 ** tries, LONGEST_DELAY_MS);
  return delay * (0.5 + Math.random() / 2);
}

/** Resolves after so many milliseconds; rejects with the signal's reason when it aborts first. */
export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
