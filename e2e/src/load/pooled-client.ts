import { Agent, type IncomingMessage, request } from 'node:http';
import { type ApiClient, clientOf } from '../api-client.js';
import { type Answering, createAnswerCheck } from '../contract/check-answer.js';

export interface PooledClient extends ApiClient, Disposable {
  /** How often a request was sent again because its connection had been closed while it was idle. */
  resent(): number;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

/**
 * A client with a pool of connections that stay open. A server may close an idle one just when a request is sent on it: with
 * nothing of an answer received, the request is sent again on a new connection, as RFC 9112 §9.3.1 allows where a
 * repetition is safe. Everything else that goes wrong is thrown.
 */
export function pooledClient(
  url: string,
  key: string,
  connections: number,
  answering?: Answering,
): PooledClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const check = createAnswerCheck(answering);
  let resent = 0;
  const send = async (asked: Asked): Promise<IncomingMessage> => {
    try {
      return await sendOnce(agent, url, asked);
    } catch (error) {
      if (!(error instanceof ClosedWhileIdle)) throw error;
      resent += 1;
      return send(asked);
    }
  };
  const client = clientOf(async (method, path, body, given = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...given };
    const answer = await send({ method, path, body, headers });
    let text = '';
    for await (const part of answer.setEncoding('utf8')) text += part;
    const parsed = {
      status: answer.statusCode ?? 0,
      headers: new Headers(answer.headers as Record<string, string>),
      body: text === '' ? undefined : JSON.parse(text),
    };
    check(method, path.split('?', 1)[0] ?? path, parsed);
    return parsed;
  });
  return { ...client, resent: () => resent, [Symbol.dispose]: () => agent.destroy() };
}

class ClosedWhileIdle extends Error {}

function sendOnce(
  agent: Agent,
  url: string,
  { method, path, body, headers }: Asked,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, agent, headers }, resolve);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const wasIdle = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      reject(wasIdle ? new ClosedWhileIdle() : error);
    });
    sent.end(body);
  });
}
