import type { CursorPagination, FieldProblem, HttpBinding, Pagination } from '@orrery/contracts';
import { createOrrery, OrreryError } from '@orrery/sdk';
import { StartupError } from '@orrery/service-kit';
import type { Server } from './find-server.js';
import { type Asked, failureOf, reasonOf } from './refusal.js';

/** A success in the envelope. */
export interface ServerAnswer {
  readonly data?: unknown;
  readonly message?: string;
  /** Likely mistakes that are allowed. */
  readonly warnings?: readonly FieldProblem[];
  /** Of a list whose pages have numbers, or of a query's. */
  readonly pagination?: Partial<Pagination & CursorPagination>;
}

export interface ServerRequest {
  readonly method: HttpBinding['method'];
  /**
   * From `/api` on: that of an operation, as openapi.json writes it, with `params`; or a path with its query. Only by the former
   * it is known which changes take a key, and are repeated where their answer is lost.
   */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/**
 * Sends a request, and again while its error says that it may succeed later, as the SDK does.
 * @throws Refusal for a refusal, StartupError when no server answers there or what answers is none
 */
export async function ask(server: Server, request: ServerRequest): Promise<ServerAnswer> {
  const { url, key } = server;
  const { method, path, params, query, headers = {}, body } = request;
  checkHeaders(headers);
  const leaving = new AbortController();
  const token = key === '' ? undefined : key;
  const { answer } = createOrrery({ url, token, fetch: unlessAway(url, leaving) });
  const init = { path: params, query, headers, body, signal: leaving.signal };
  try {
    return await (answer as unknown as Answering)(method.toLowerCase(), path, init);
  } catch (error) {
    // A path that no URL can hold.
    if (error instanceof RangeError) throw new StartupError(error.message, { cause: error });
    if (!(error instanceof OrreryError)) throw error;
    const advice = error.isUndecided ? [adviceOnRepeating(request)] : [];
    throw failureOf(server, askedBy(request), error, ...advice);
  }
}

type Answering = (method: string, path: string, init: object) => Promise<ServerAnswer>;

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers))
    if (!/^[\x20-\x7e]*$/.test(value))
      throw new StartupError(`--${name} takes printable ASCII characters alone, not "${value}".`);
}

/**
 * A server that takes no connection is not there, and nobody waits for it. One that was asked before may come back, and may
 * have done what it was asked.
 */
function unlessAway(url: string, leaving: AbortController): typeof fetch {
  let isFirst = true;
  return async (...asked) => {
    const answer = fetch(...asked).catch((cause: Error) => {
      const reason = reasonOf(cause);
      if (isFirst && NOT_CONNECTED.test(reason)) leaving.abort(awayError(url, reason, cause));
      throw cause;
    });
    return answer.finally(() => {
      isFirst = false;
    });
  };
}

/** Before anything is sent: no connection, no such host, a port that HTTP may not use, a certificate that is not trusted. */
const NOT_CONNECTED =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|EPROTO|bad port)$|CERT|SIGNATURE|_SSL_/;

function awayError(url: string, reason: string, cause: Error): StartupError {
  const why = reason === 'ECONNREFUSED' ? '' : ` (${reason})`;
  const advice = 'run `npm start` in another terminal first, pass --url or set ORRERY_URL.';
  const detail = `No Orrery answers at ${url}${why}: ${advice}`;
  return new StartupError(detail, { cause: new OrreryError({ code: 'network_error', detail, cause }) });
}

/** Where nobody knows what became of a request. */
function adviceOnRepeating({ method, path, query, headers }: ServerRequest): string {
  if (method === 'GET' || query?.['dryRun'] === 'true')
    return 'The request changes nothing: run the command again.';
  const look = path.endsWith('/execute')
    ? '`orrery history list` shows it then'
    : 'look before you repeat it';
  const key = headers?.['idempotency-key'];
  const again = key === undefined ? '' : ` With --idempotency-key ${key} a repetition has no second effect.`;
  return `It may have taken effect: ${look}.${again}`;
}

/** A request with its parameters and its query. */
function askedBy({ method, path, params, query = {} }: ServerRequest): Asked {
  const filled = filledPath({ path, params });
  const search = new URLSearchParams(query).toString();
  return { method, path: search === '' ? filled : `${filled}?${search}` };
}

/** A path with its parameters. */
export const filledPath = ({ path, params = {} }: Pick<ServerRequest, 'path' | 'params'>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));

/** A warning as a line; `where`: the part that it is about. */
export const warningText = ({ code, message }: FieldProblem, where: string): string =>
  `Warning: ${where === '' ? '' : `${where}: `}${message} [${code}]`;

/** As `ask`, with a path below `/api`. */
export const askAt = (
  server: Server,
  method: HttpBinding['method'],
  path: string,
  body?: unknown,
): Promise<ServerAnswer> => ask(server, { method, path: `/api${path}`, body });

/** The parameters that tell the pages of a list apart; undefined: there is no further page. */
type Which = Readonly<Record<string, string>> | undefined;

/** All pages of a list as one answer. `next`: what follows an answer. */
export async function allPages(
  askPage: (which: NonNullable<Which>) => Promise<ServerAnswer>,
  next: (answer: ServerAnswer) => Which = nextPage,
): Promise<ServerAnswer> {
  const data: unknown[] = [];
  let answer: ServerAnswer = {};
  for (let which: Which = {}; which !== undefined; which = next(answer)) {
    answer = await askPage(which);
    for (const one of answer.data as unknown[]) data.push(one);
  }
  return { ...answer, data };
}

/** Of a history, by its last entry: what is written meanwhile moves no entry to another page, and none is too deep. */
export function nextEntries({ data, pagination }: ServerAnswer): Which {
  const entries = data as { readonly seq: number }[];
  const last = entries.at(-1);
  const isEnd = last === undefined || last.seq === 1 || entries.length < (pagination?.limit ?? 1);
  return isEnd ? undefined : { after: String(last.seq) };
}

function nextPage({ data, pagination }: ServerAnswer): Which {
  const { next, page = 1, limit = 1, totalPages = 1, totalIsMinimum = false } = pagination ?? {};
  if (next !== undefined) return next === null ? undefined : { cursor: next };
  // The service counts no further than 10,000.
  const mayFollow = totalIsMinimum && (data as unknown[]).length >= limit;
  return page < totalPages || mayFollow ? { page: String(page + 1) } : undefined;
}
