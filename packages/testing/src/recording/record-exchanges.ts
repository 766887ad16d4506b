import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Reports every exchange of all HTTP servers in this process, before the end of the answer is sent. It does not report
 * answers that never end (streams), nor those that no `ServerResponse` gave (bytes that are not HTTP are refused on the
 * socket).
 */
export function recordExchanges(tell: (exchange: Exchange) => void): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    record(request, response, tell);
  });
}

function record(
  request: IncomingMessage,
  response: ServerResponse,
  tell: (exchange: Exchange) => void,
): void {
  const asked: Buffer[] = [];
  const answered: Buffer[] = [];
  let head: Record<string, string> = {};
  before(request, 'push', ([part]) => keep(asked, part));
  before(response, 'writeHead', (args) => {
    head = Object.assign({}, ...args.filter((part) => typeof part === 'object'));
  });
  before(response, 'write', ([part]) => keep(answered, part));
  before(response, 'end', ([part]) => {
    keep(answered, part);
    tell({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: textsOf(request.headers),
      body: Buffer.concat(asked).toString(),
      answer: {
        status: response.statusCode,
        headers: textsOf({ ...response.getHeaders(), ...head }),
        body: Buffer.concat(answered).toString(),
      },
    });
  });
}

/** Calls a function with the arguments of each call of a method, before it. */
function before(target: object, method: string, see: (args: readonly unknown[]) => void): void {
  const original: (...args: unknown[]) => unknown = Reflect.get(target, method);
  Reflect.set(target, method, (...args: unknown[]) => {
    see(args);
    return Reflect.apply(original, target, args);
  });
}

/** Copies the bytes: the parser may reuse the memory of a chunk. */
function keep(parts: Buffer[], part: unknown): void {
  if (typeof part === 'string' || part instanceof Uint8Array) parts.push(Buffer.from(part));
}

function textsOf(headers: NodeJS.Dict<number | string | string[]>): Record<string, string | string[]> {
  const known = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    known.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value : String(value)]),
  );
}

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** An HTTP request and its answer, as the server's process saw them. */
export interface Exchange {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Headers;
  readonly body: string;
  readonly answer: {
    readonly status: number;
    /** By lower-case name, without those that Node adds. */
    readonly headers: Headers;
    readonly body: string;
  };
}
