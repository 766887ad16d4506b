import { Agent, type IncomingMessage, request } from 'node:http';
import type { ApiAnswer } from '../../api-client.js';
import { createAnswerCheck } from '../../contract/check-answer.js';
import type { Random } from '../plan/random.js';

/** What came back for a request: an answer, or how the connection broke. */
export type Reply = { readonly answer: ApiAnswer } | { readonly broken: string; readonly wasSent: boolean };

export interface Asked {
  readonly method: string;
  /** From the root. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ChaosClient extends Disposable {
  /** Sends a request once, to any gateway, and never again. */
  ask(asked: Asked): Promise<Reply>;
  /** Answers that break the contract. */
  readonly wrong: readonly string[];
  /** Answers with status 500. */
  readonly internal: readonly InternalAnswer[];
}

export interface InternalAnswer {
  /** `2026-11-23T10:00:00.000Z POST /api/…` */
  readonly request: string;
  readonly requestId: string;
  readonly body: unknown;
}

export interface ChaosClientOptions {
  /** Of the gateways. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly random: Random;
  /** When a client gives up, in milliseconds; later than the gateway's own deadlines. */
  readonly patienceMs: number;
}

/** A client that remembers everything that nobody should ever be answered. */
export function chaosClient({ urls, key, random, patienceMs }: ChaosClientOptions): ChaosClient {
  const agent = new Agent({ keepAlive: true });
  const check = createAnswerCheck();
  const wrong: string[] = [];
  const internal: InternalAnswer[] = [];
  const note = ({ method, path }: Asked, answer: ApiAnswer) => {
    const { status, headers, body } = answer;
    if (status === 500)
      internal.push({
        request: `${new Date().toISOString()} ${method} ${path}`,
        requestId: headers.get('x-request-id') ?? '',
        body,
      });
    try {
      check(method, path.split('?', 1)[0] ?? path, answer);
    } catch (error) {
      wrong.push((error as Error).message);
    }
  };
  return {
    wrong,
    internal,
    ask: async (asked) => {
      const sent = { ...asked, headers: { authorization: `Bearer ${key}`, ...asked.headers } };
      const reply = await send(agent, random.anyOf(urls), sent, AbortSignal.timeout(patienceMs));
      if ('answer' in reply) note(asked, reply.answer);
      return reply;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

async function send(agent: Agent, url: string, asked: Asked, signal: AbortSignal): Promise<Reply> {
  let wasSent = false;
  try {
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const { method, path, body, headers } = asked;
      const json = { 'content-type': 'application/json' };
      const made = request(
        `${url}${path}`,
        { method, agent, signal, headers: { ...json, ...headers } },
        resolve,
      );
      made.on('socket', (socket) => {
        // A connection that is open already may take the request at once.
        wasSent = !socket.connecting;
        if (wasSent) return;
        socket.once('connect', () => {
          wasSent = true;
        });
      });
      made.on('error', reject);
      made.end(body === undefined ? undefined : JSON.stringify(body));
    });
    let text = '';
    for await (const part of message.setEncoding('utf8')) text += part;
    const headers = new Headers(message.headers as Record<string, string>);
    const body = text === '' ? undefined : JSON.parse(text);
    return { answer: { status: message.statusCode ?? 0, headers, body } };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { broken: code ?? name, wasSent };
  }
}
