import createClient from 'openapi-fetch';
import { errorOfAnswer, httpError, OrreryError } from '../errors/orrery-error.js';
import type { paths } from '../generated/api.js';
import { KEYED_OPERATIONS } from '../generated/operations.js';
import { toHex } from '../json/hex.js';
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
  /**
   * Sends a GET whose answer is read while it arrives. No retries: the reader knows where to go on.
   * @throws OrreryError for an answer that is no success, and as `network_error` where none came
   */
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>;
  /** Of a reader without a key, who is not told the inputs of entries about settings. */
  readonly isWithoutKey?: true;
}

interface UntypedInit extends RequestOptions {
  readonly path?: Record<string, unknown>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}
type UntypedRequest = (method: string, path: string, init: object) => Promise<{ response: Arrived }>;

/** An answer of the service that has arrived whole. openapi-fetch hands it on as it is. */
interface Arrived {
  readonly ok: true;
  readonly headers: Headers;
  readonly envelope: object;
}

export function createRequests({ url, token, fetch: given, retryForMs = 30_000 }: ClientOptions): Requests {
  // `localhost:3000` is a URL of the scheme `localhost`, which no try reaches; in a page `orrery.example` is a path.
  if (!/^(https?:\/\/[^/]|[./]|$)/i.test(url))
    throw new TypeError(`The url cannot be '${url}': it begins with http:// or https://.`);
  // A bare `fetch` of a browser refuses to be called as a member of another object.
  const send: typeof fetch = given ?? ((...args) => globalThis.fetch(...args));
  const untyped = createClient<paths>({ baseUrl: url }).request as unknown as UntypedRequest;
  const authorization = async (path: string): Promise<Record<string, string>> => {
    if (token === undefined || !path.startsWith('/api/')) return {};
    return { authorization: `Bearer ${typeof token === 'function' ? await token() : token}` };
  };
  const answer = async (method: string, path: string, init: UntypedInit = {}) => {
    const { path: inPath, query, body, signal, headers, onBytes } = init;
    checkSegments(inPath);
    const key = keyOf(`${method.toUpperCase()} ${path}`, init);
    const repeatable = method === 'get' || key !== undefined || path.startsWith('/app/');
    const { response } = await untyped(method, path, {
      params: { path: inPath, query },
      body,
      signal,
      parseAs: 'stream',
      headers: {
        ...(await authorization(path)),
        ...headers,
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      fetch: (request: Request) => sendWithRetries(request, { fetch: send, retryForMs, repeatable, onBytes }),
    });
    const etag = response.headers.get('etag')?.replace(/^(?:W\/)?"(.*)"$/, '$1');
    const { envelope } = response;
    return { body: etag === undefined ? envelope : { ...envelope, etag }, headers: response.headers };
  };
  return {
    answer: answer as Requests['answer'],
    open: async (path, headers, signal) => {
      // What no request can be made of is no failure of the network: it would be tried for ever.
      const request = new Request(`${url.replace(/\/$/, '')}${path}`, {
        headers: { ...(await authorization(path)), ...headers },
        signal,
        cache: 'no-store',
      });
      try {
        const answer = await send(request);
        if (answer.ok) return answer;
        throw errorOfAnswer(answer, await answer.text());
      } catch (cause) {
        throw cause instanceof OrreryError ? cause : networkError(request.url, cause);
      }
    },
  };
}

/** A key for all tries of one call; undefined where the operation takes none. */
function keyOf(operation: string, { idempotencyKey, headers = {} }: RequestOptions): string | undefined {
  if (!KEYED_OPERATIONS.has(operation)) return undefined;
  const isKey = ([name]: readonly [string, string]) => name.toLowerCase() === 'idempotency-key';
  return idempotencyKey ?? Object.entries(headers).find(isKey)?.[1] ?? newKey();
}

/** 128 random bits. `crypto.randomUUID` is missing in pages that came over plain HTTP. */
const newKey = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));

/** A URL's parser takes `.` and `..` for folders, encoded too: the request would reach another resource. */
function checkSegments(path: Record<string, unknown> = {}): void {
  for (const [name, value] of Object.entries(path))
    if (value === undefined || value === '' || value === '.' || value === '..')
      throw new RangeError(`The path's ${name} cannot be '${value}': no URL can hold it.`);
}

interface SendOptions {
  readonly fetch: typeof fetch;
  /** Milliseconds from the first try in which others may begin; 0 makes one try. */
  readonly retryForMs: number;
  /** Sending the request twice has the effect of sending it once. */
  readonly repeatable: boolean;
  readonly onBytes: (() => void) | undefined;
}

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;
/** Each is answered before anything was done. */
const NOTHING_DONE: ReadonlySet<string> = new Set(['rate_limited', 'too_many_waiting', 'request_timeout']);

/**
 * Sends a request, and again while its error says that it may succeed later. A connection that breaks in the middle of the
 * answer, and an answer that is none of the service, are tries that failed; a page in its place ends them.
 * @throws OrreryError for an answer that is no success, and as `network_error` where none came
 */
async function sendWithRetries(request: Request, options: SendOptions): Promise<Arrived> {
  const until = performance.now() + options.retryForMs;
  for (let tries = 0; ; tries += 1) {
    const outcome = await sendOnce(request.clone(), options);
    if (!(outcome instanceof OrreryError)) return outcome;
    const backoff = Math.min(FIRST_DELAY_MS * 2 ** tries, LONGEST_DELAY_MS);
    const delay = mayRepeat(outcome, options.repeatable) ? delayAfter(backoff, outcome) : Infinity;
    if (performance.now() + delay >= until) throw outcome;
    await pause(delay, request.signal);
  }
}

async function sendOnce(
  request: Request,
  { fetch: send, onBytes }: SendOptions,
): Promise<Arrived | OrreryError> {
  try {
    const answer = await send(request);
    const text = await textOf(answer, onBytes);
    if (answer.redirected && request.method !== 'GET') return redirectedError(answer);
    if (!answer.ok) return errorOfAnswer(answer, text);
    const envelope = envelopeIn(text);
    return envelope === undefined ? httpError(answer) : { ok: true, headers: answer.headers, envelope };
  } catch (cause) {
    request.signal.throwIfAborted();
    return networkError(request.url, cause);
  }
}

async function textOf(answer: Response, onBytes: (() => void) | undefined): Promise<string> {
  if (!onBytes || !answer.body) return answer.text();
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return text + decoder.decode();
    onBytes();
    text += decoder.decode(value, { stream: true });
  }
}

function envelopeIn(text: string): object | undefined {
  try {
    const body = parseJson(text);
    return typeof body === 'object' && body !== null && 'data' in body ? body : undefined;
  } catch {
    return undefined;
  }
}

const networkError = (url: string, cause: unknown): OrreryError =>
  new OrreryError({ code: 'network_error', detail: `No answer came from ${new URL(url).origin}.`, cause });

/** `fetch` follows a redirection before anybody can see what it makes of the request: mostly a GET. */
const redirectedError = ({ url, status }: Response): OrreryError =>
  new OrreryError({
    code: 'redirected',
    detail: `The request was redirected to ${url}, where it may have arrived as a GET. Send it to that address.`,
    status,
    facts: { location: url, outcome: 'unknown' },
  });

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
export const delayAfter = (backoff: number, error?: OrreryError): number =>
  Math.max(backoff * (0.5 + Math.random() / 2), (error?.retryAfter ?? 0) * 1000);

/** A longer timer ends at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after so many milliseconds; rejects with the signal's reason when it aborts first. */
export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const leave = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
    signal?.addEventListener('abort', leave, { once: true });
  });
}
