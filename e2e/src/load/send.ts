import { type Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ApiAnswer } from '../api/api-client.js';

export interface Asked {
  readonly method: string;
  /** From the root. */
  readonly path: string;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** There was no whole answer. */
export interface Broken {
  /** The code of the error. */
  readonly broken: string;
  /** Bytes of the request may have reached the server. */
  readonly wasSent: boolean;
  /** The connection had been idle, and its server closed it with nothing of an answer (RFC 9112 §9.3.1). */
  readonly wasIdle: boolean;
  readonly cause: Error;
}

/** What came back for a request. */
export type Reply = { readonly answer: ApiAnswer } | Broken;

export const textOf = (body: unknown): string | undefined =>
  typeof body === 'string' ? body : JSON.stringify(body);

/** Sends a request once. */
export async function send(agent: Agent, url: string, asked: Asked, signal?: AbortSignal): Promise<Reply> {
  const { method, path, body, headers } = asked;
  const json = { 'content-type': 'application/json', ...headers };
  const made = request(`${url}${path}`, { method, agent, headers: json, ...(signal && { signal }) });
  let wasSent = false;
  made.on('socket', (socket) => {
    // A connection that is open already may take the request at once.
    wasSent = !socket.connecting;
    if (!wasSent) socket.once('connect', () => (wasSent = true));
  });
  let hasBegun = false;
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      made.on('response', resolve).on('error', reject).end(textOf(body));
    });
    hasBegun = true;
    const received = await text(message);
    return {
      answer: {
        status: message.statusCode ?? 0,
        headers: new Headers(message.headers as Record<string, string>),
        body: received === '' ? undefined : JSON.parse(received),
      },
    };
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const isClosed = cause.code === 'ECONNRESET' || cause.code === 'EPIPE';
    const wasIdle = !hasBegun && made.reusedSocket && isClosed;
    return { broken: cause.code ?? cause.name, wasSent, wasIdle, cause };
  }
}
